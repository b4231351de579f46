//! A decision that does not fit its interrupt, with the arguments of the command line that would.

use control::{InvalidDecision, verdict_refused};
use interrupt_router::review::Unsaid;
use interrupts::RouteName;
use interrupts::life::{Family, Interrupt, Verdict};

use crate::exit::{Exit, Failure};

/// How a plan is changed.
const CHANGED_PLAN: &str = "write {\"plan\":[\"one step\",\"another\"]}, or --message TEXT";

/// A decision that does not fit. Nothing was decided.
pub(crate) fn by_invalid(
    interrupt: &Interrupt,
    verdict: Verdict,
    error: &InvalidDecision,
) -> Failure {
    let usage = |text: &str| Failure::new(Exit::Usage, text);
    match error {
        InvalidDecision::NotAllowed { verdict, allowed } => {
            verdict_refused(*verdict, allowed).into()
        }
        InvalidDecision::OwnQuestion => {
            Failure::new(Exit::NotAuthorised, error.to_string()).hint("let another person decide")
        }
        InvalidDecision::NoTarget { routes } => {
            usage("a reroute needs --to AGENT_TYPE").hint(ways(routes))
        }
        InvalidDecision::NoReroute { .. } => {
            usage("only a reroute goes elsewhere: --decision reroute")
        }
        InvalidDecision::UnknownTarget { given, routes } => {
            usage(&format!("--to: `{given}` is no route of it")).hint(ways(routes))
        }
        InvalidDecision::TwoTargets { routes, .. } => usage(&error.to_string()).hint(ways(routes)),
        InvalidDecision::Unreadable { problem } => unreadable(interrupt, verdict, problem),
        InvalidDecision::SaidTwice { .. } => {
            usage(&error.to_string()).hint("say it once: leave --message out, or that field")
        }
        InvalidDecision::NothingSaid => usage("a response needs --message TEXT, or --choose VALUE")
            .hint("--decision ignore lets the agent go on without an answer"),
        InvalidDecision::Unsaid(unsaid) => usage(&error.to_string()).hint(match unsaid {
            Unsaid::Choice { .. } => "--choose VALUE, or --message TEXT".to_owned(),
            Unsaid::OneChoice { .. } => "--choose VALUE, once".to_owned(),
            Unsaid::Words => "--message TEXT".to_owned(),
            Unsaid::Confirmations { items } => {
                let said: Vec<String> = items
                    .iter()
                    .map(|id| format!("--confirm {id}=yes"))
                    .collect();
                format!("{}, or =no", said.join(" "))
            }
        }),
        InvalidDecision::NoChange => {
            usage("neither steps nor words change the plan").hint(CHANGED_PLAN)
        }
        InvalidDecision::NoRequest => usage(
            "an edit needs the target's request: --payload '{\"editedRequest\":{…}}', or --edit",
        ),
        InvalidDecision::NoEdit => {
            usage("an edited request comes with --decision edit, or reroute")
        }
        InvalidDecision::ChosenTwice { .. }
        | InvalidDecision::NotOffered { .. }
        | InvalidDecision::UnknownItem { .. }
        | InvalidDecision::Request { .. }
        | _ => usage(&error.to_string()),
    }
}

/// The payload is of another form than what was asked.
fn unreadable(interrupt: &Interrupt, verdict: Verdict, problem: &str) -> Failure {
    let (what, hint) = match interrupt.family() {
        _ if verdict == Verdict::ModifyPlan => ("change of a plan", CHANGED_PLAN),
        Family::Stop => ("new input", "write {\"input\":\"…\"}, or --message TEXT"),
        Family::Question => (
            "answer",
            "an answer has selectedChoices, text, confirmations, editedRequest, rerouteTo",
        ),
    };
    Failure::new(Exit::Usage, format!("the payload is no {what}: {problem}")).hint(hint)
}

fn ways(routes: &[RouteName]) -> String {
    let routes: Vec<&str> = routes.iter().map(RouteName::as_str).collect();
    format!("it can go to: {}", routes.join(", "))
}
