//! What holds for every policy.

use interrupt_router::{DecisionId, InterruptType, StopSource};
use interrupts::life::{Admission, Verdict};
use interrupts::policy::{Automatic, Policy, PropertySource, Subject, Vocabulary};
use proptest::prelude::*;

use crate::scene::{admission, admitted};

fn one_of(choices: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    prop::sample::select(choices)
}

/// The lines of a rule: some conditions, and some of what a rule may say.
fn rule() -> impl Strategy<Value = String> {
    let conditions = one_of(&[
        "",
        "type = \"HUMAN_REVIEW\"\n",
        "type = [\"PAUSE\", \"AGENT_REVIEW\"]\n",
        "source = [\"system\", \"programmatic\"]\n",
        "agent = \"TICKET_ORCHESTRATOR\"\n",
        "agent = \"OTHER\"\n",
    ]);
    let says = one_of(&[
        "priority = 3\n",
        "review_limit = \"10m\"\n",
        "review_limit = \"none\"\n",
        "on_expiry = \"reject\"\n",
        "on_expiry = \"cancel\"\n",
        "on_expiry = \"reroute:ORCHESTRATOR\"\n",
        "on_expiry = \"reroute:ELSEWHERE\"\n",
        "answer = \"respond\"\nanswer_text = \"yes\"\n",
        "answer = \"reroute:ELSEWHERE\"\n",
        "grace = \"3s\"\n",
    ]);
    (conditions, says).prop_map(|(conditions, says)| format!("[[rule]]\n{conditions}{says}"))
}

fn any_policy() -> impl Strategy<Value = Policy> {
    prop::collection::vec(rule(), 0..8)
        .prop_map(|rules| Policy::from_toml(&rules.concat(), &Vocabulary::default()).unwrap())
}

fn any_admission() -> impl Strategy<Value = Admission> {
    let types = prop::sample::select(InterruptType::ALL.to_vec());
    let sources = prop::sample::select(vec![
        StopSource::User,
        StopSource::System,
        StopSource::Programmatic,
    ]);
    (types, sources).prop_map(|(interrupt_type, source)| admission(interrupt_type, source))
}

proptest! {
    #[test]
    fn p19_what_a_policy_makes_of_a_deadline_is_admitted_and_never_approves(
        policy in any_policy(),
        mut admission in any_admission(),
    ) {
        policy.apply(&mut admission);
        prop_assert_ne!(admission.on_expiry.verdict(), Verdict::Approve);
        // It is admitted: its outcome is one of its routes, its patience positive.
        let _admitted = admitted(&admission);
    }

    #[test]
    fn p8_what_a_policy_decides_is_allowed(policy in any_policy(), admission in any_admission()) {
        let interrupt = admitted(&admission);
        if let Automatic::Decide { choosing, .. } = policy.decide(&interrupt, DecisionId::generate()) {
            prop_assert!(interrupt.allowed.contains(&choosing.verdict));
            prop_assert!(choosing.target.is_none_or(|target| interrupt.allows_target(&target)));
        }
    }

    #[test]
    fn an_explanation_tells_what_holds(policy in any_policy(), admission in any_admission()) {
        let interrupt = admitted(&admission);
        let explanation = policy.explain(&interrupt);
        let terms = policy.terms(&Subject::of(&interrupt));
        prop_assert_eq!(&explanation.properties[0].value, &terms.priority.to_string());
        for decided in &explanation.properties {
            // Whoever is named as decider says so itself, and nobody else does.
            let claimed: Vec<_> = explanation.rules.iter()
                .filter(|rule| rule.decides.contains(&decided.property))
                .map(|rule| rule.line)
                .collect();
            match &decided.by {
                PropertySource::Rule { line, .. } => prop_assert_eq!(claimed, vec![*line]),
                PropertySource::BuiltIn => prop_assert!(claimed.is_empty()),
            }
        }
    }
}
