//! The rehearsal model: the same to the same caller, whatever else goes on.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use interrupt_router::answer::{ConstraintCheck, read_strictly};
use interrupt_router::model::{LanguageModel, ModelCall};
use interrupt_router::schema::Dialect;
use interrupt_router::{NodeId, Outcome, StopScope};
use llm::{
    Fact, JsonSchemaConstraints, Pace, RehearsalConfig, RehearsalModel, Script, ScriptVocabulary,
};
use tokio::time::Instant;

use crate::calls::{Finding, Pieces, call, stop_now};

fn rehearsal(seed: u64) -> RehearsalModel {
    RehearsalModel::new(RehearsalConfig {
        seed,
        pace: Pace::Unlimited,
        facts: (0..100)
            .map(|number| Fact {
                about: format!("src/{number}.rs"),
                says: format!("src/{number}.rs has 12 lines."),
            })
            .collect(),
        script: None,
    })
}

fn call_of(node: &str, turn: u32) -> ModelCall {
    let mut call = call(Dialect::JsonSchema);
    call.caller.node = NodeId::new(node).unwrap();
    call.caller.turn = turn;
    call
}

async fn text(model: &RehearsalModel, call: ModelCall) -> String {
    let outcome = model.call(call, &StopScope::new()).await.unwrap();
    outcome.completed().unwrap().text
}

#[tokio::test]
async fn a_seed_says_the_same_facts_each_time_and_another_seed_others() {
    let one = text(&rehearsal(1), call_of("root/a", 1)).await;
    assert!(one.contains("has 12 lines."), "a fact: {one}");
    assert_eq!(text(&rehearsal(1), call_of("root/a", 1)).await, one);
    assert_ne!(text(&rehearsal(2), call_of("root/a", 1)).await, one);
    assert_ne!(text(&rehearsal(1), call_of("root/b", 1)).await, one);
    assert_ne!(text(&rehearsal(1), call_of("root/a", 2)).await, one);
}

#[tokio::test]
async fn the_order_of_calls_changes_nothing() {
    let calls: Vec<(String, u32)> = (0..12)
        .map(|index| (format!("root/worker-{}", index % 4), index / 4 + 1))
        .collect();
    let model = Arc::new(rehearsal(7));
    let mut forward = Vec::new();
    for (node, turn) in &calls {
        forward.push(text(&model, call_of(node, *turn)).await);
    }
    let mut backward = Vec::new();
    for (node, turn) in calls.iter().rev() {
        backward.push(text(&model, call_of(node, *turn)).await);
    }
    backward.reverse();
    assert_eq!(forward, backward);
    let at_once = calls.iter().map(|(node, turn)| {
        let (model, call) = (Arc::clone(&model), call_of(node, *turn));
        tokio::spawn(async move { text(&model, call).await })
    });
    let at_once: Vec<_> = at_once.collect();
    for (task, expected) in at_once.into_iter().zip(forward) {
        assert_eq!(task.await.unwrap(), expected);
    }
}

#[tokio::test]
async fn an_answer_fits_every_dialect_and_its_constraints() {
    for dialect in Dialect::ALL {
        let model = rehearsal(3).with_dialect(dialect);
        let call = call(model.dialect());
        let schema = call.schema.clone().unwrap();
        let text = text(&model, call).await;
        if dialect == Dialect::JsonSchema {
            JsonSchemaConstraints::new()
                .check(&schema, text.as_bytes())
                .unwrap();
        }
        read_strictly::<Finding>(text.as_bytes()).unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn the_pace_is_kept() {
    let mut config = RehearsalConfig {
        seed: 1,
        ..RehearsalConfig::default()
    };
    config.pace = Pace::TokensPerSecond(NonZeroU32::new(10).unwrap());
    let model = RehearsalModel::new(config);
    let start = Instant::now();
    let outcome = model
        .call(call(Dialect::JsonSchema), &StopScope::new())
        .await
        .unwrap();
    let written = outcome.completed().unwrap().usage.output.unwrap();
    let expected = Duration::from_millis(100 * written);
    assert!(start.elapsed() >= expected && start.elapsed() < expected + Duration::from_millis(50));
}

#[tokio::test(start_paused = true)]
async fn a_stop_keeps_what_was_said() {
    let pace = Pace::from_tokens_per_second(10);
    let model = RehearsalModel::new(RehearsalConfig {
        pace,
        ..RehearsalConfig::default()
    });
    let pieces = Pieces::new();
    let call = ModelCall {
        chunks: Some(pieces.clone()),
        ..call(Dialect::JsonSchema)
    };
    let scope = StopScope::new();
    let (ending, ()) = tokio::join!(model.call(call, &scope), async {
        pieces.reached(3).await;
        stop_now(&scope);
    });
    let Outcome::Interrupted { partial, .. } = ending.unwrap() else {
        panic!("it was stopped");
    };
    assert_eq!(partial.text, pieces.text());
    assert_eq!(partial.usage.output, Some(3));
}

#[tokio::test]
async fn a_scripted_answer_is_given_exactly_and_only_then() {
    let script = r#"{"version": 1, "steps": [
        {"agent": "DISCOVERY_ORCHESTRATOR", "turn": 1, "correction": 0, "answer": "no JSON, {"},
        {"agent": "DISCOVERY_ORCHESTRATOR", "turn": 2, "answer": {"b": 1, "a": [null]}}
    ]}"#;
    let vocabulary = ScriptVocabulary {
        agent_types: vec!["DISCOVERY_ORCHESTRATOR".to_owned()],
        ..ScriptVocabulary::default()
    };
    let script = Script::parse(script, &vocabulary).unwrap();
    let model = RehearsalModel::new(RehearsalConfig {
        script: Some(script),
        ..RehearsalConfig::default()
    });
    assert_eq!(text(&model, call_of("root", 1)).await, "no JSON, {");
    assert_eq!(
        text(&model, call_of("root", 2)).await,
        r#"{"b":1,"a":[null]}"#
    );
    let mut corrected = call_of("root", 1);
    corrected.caller.correction = 1;
    read_strictly::<Finding>(text(&model, corrected).await.as_bytes()).unwrap();
}
