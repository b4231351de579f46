//! A model: whether it is reached, what its server is, whether it keeps to a schema, how fast it is, and whether it ends
//! when it is stopped.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agents::catalogue::{self, SchemaError, SchemaQuery};
use interrupt_router::answer::read_strictly;
use interrupt_router::handler::ReviewDecision;
use interrupt_router::model::{
    AnswerSchemaRef, ChunkSink, LanguageModel, Message, ModelCall, ModelCaller, Purpose,
};
use interrupt_router::{NodeId, Outcome, RunId, StopMode, StopReason, StopScope, StopSource};
use jiff::Timestamp;
use llm::{ProviderModel, ServerFacts};

use super::finding::Finding;
use crate::arguments::DoctorArguments;
use crate::exit::{Failure, causes};
use crate::model::{FOR_TOOLS, ModelChoice, NO_TOOLS};
use crate::settings::Profiles;

/// The name of these checks.
const WHAT: &str = "model";

/// The record that the model is asked for.
const RECORD: &str = "ReviewDecision";

/// Tries the model, and saves its profile if that is wanted and the model works.
///
/// # Errors
///
/// If the profile cannot be saved.
///
/// # Cancel safety
///
/// If dropped, the call under way is cancelled.
pub(super) async fn findings(
    name: &str,
    arguments: &DoctorArguments,
) -> Result<Vec<Finding>, Failure> {
    let opened =
        ModelChoice::parse(name, arguments.base_url.clone()).and_then(|choice| choice.provider());
    let model = match opened {
        Ok(Some(model)) => model,
        Ok(None) => return Ok(vec![Finding::well(WHAT, "the rehearsal needs nothing")]),
        Err(failure) => {
            let remedy = failure
                .advice()
                .unwrap_or("docs/models.md says how models are named");
            return Ok(vec![Finding::problem(WHAT, failure.to_string(), remedy)]);
        }
    };
    let facts = model.server_facts();
    let mut findings: Vec<Finding> = facts.map(server).into_iter().collect();
    if facts.and_then(|facts| facts.takes_tools) == Some(false) {
        findings.push(Finding::note(WHAT, NO_TOOLS, FOR_TOOLS));
    }
    findings.push(Finding::well(WHAT, manner(&model)));
    let tried = tried(&model).await;
    let works = tried.health != super::Health::Problem;
    findings.push(tried);
    if works {
        findings.push(interrupted(&model).await);
    }
    if let (Some(as_name), true) = (&arguments.write, works) {
        let mut profile = model.profile();
        profile.model.get_or_insert_with(|| name.to_owned());
        let path = Profiles::keep(as_name, &profile)?;
        let found = format!("kept in {}: use it with --model {as_name}", path.display());
        findings.push(Finding::well(WHAT, found));
    }
    Ok(findings)
}

fn server(facts: &ServerFacts) -> Finding {
    let models = match facts.models.as_slice() {
        [] => "it names no models".to_owned(),
        some => format!("it has {}", some.join(", ")),
    };
    Finding::well(
        WHAT,
        format!("its server is {}; {models}", facts.kind.name()),
    )
}

/// How the model is asked.
fn manner(model: &ProviderModel) -> String {
    let profile = model.profile();
    let reads = match profile.context {
        Some(tokens) => format!("{tokens} tokens"),
        None => "as much as its provider takes".to_owned(),
    };
    format!(
        "schemas as {}, turns as {}, reads {reads}",
        model.dialect().name(),
        model.turn_form(&caller()).name(),
    )
}

fn caller() -> ModelCaller {
    ModelCaller {
        run: RunId::generate(),
        node: NodeId::root(),
        agent_type: "DOCTOR",
        purpose: Purpose::Step,
        turn: 1,
        correction: 0,
    }
}

/// A small question of the kind that reviewing models are asked.
fn call(
    model: &ProviderModel,
    chunks: Option<Arc<dyn ChunkSink>>,
) -> Result<ModelCall, SchemaError> {
    let schema = catalogue::schema(RECORD, &SchemaQuery::new(model.dialect()))?;
    Ok(ModelCall {
        caller: caller(),
        messages: vec![
            Message::system("You review what agents ask. Answer with one JSON object."),
            Message::user(
                "May I read the file README.md? Choices: `yes` reads it, `no` leaves it.",
            ),
        ],
        schema: Some(AnswerSchemaRef::Fixed(schema)),
        tools: Arc::default(),
        forward: None,
        chunks,
    })
}

/// Whether it answers, and keeps to the schema.
async fn tried(model: &ProviderModel) -> Finding {
    let start = Instant::now();
    let call = match call(model, None) {
        Ok(call) => call,
        Err(error) => return Finding::problem(WHAT, error.to_string(), "choose another `dialect`"),
    };
    let reply = match model.call(call, &StopScope::new()).await {
        Ok(Outcome::Completed(reply)) => reply,
        Ok(Outcome::Interrupted { .. }) => {
            return Finding::problem(WHAT, "its call was interrupted", "try again");
        }
        Err(error) => return Finding::problem(WHAT, causes(&error), llm::hint(&error)),
    };
    let seconds = start.elapsed().as_secs_f64();
    let speed = reply.usage.output.map(|tokens| {
        let tokens = f64::from(u32::try_from(tokens).unwrap_or(u32::MAX));
        format!(", {:.0} tokens a second", tokens / seconds.max(0.001))
    });
    let speed = speed.unwrap_or_default();
    match read_strictly::<ReviewDecision>(reply.text.as_bytes()) {
        Ok(_) => Finding::well(
            WHAT,
            format!("answered in {seconds:.1} s and kept to the schema{speed}"),
        ),
        Err(error) => Finding::problem(
            WHAT,
            format!("answered in {seconds:.1} s{speed}, and did not keep to the schema: {error}"),
            "choose another `dialect` for it, or a model that answers in JSON by a schema",
        ),
    }
}

/// Stops the call at the first chunk of its answer.
struct StopsAtOnce(StopScope);

impl ChunkSink for StopsAtOnce {
    fn chunk(&self, _text: &str) {
        self.0.stop(StopReason {
            source: StopSource::Programmatic,
            mode: StopMode::Immediate,
            message: "the doctor has seen enough".to_owned(),
            timestamp: Timestamp::now(),
        });
    }
}

/// How long it takes to end a call that is stopped halfway.
async fn interrupted(model: &ProviderModel) -> Finding {
    let scope = StopScope::new();
    let stops: Arc<dyn ChunkSink> = Arc::new(StopsAtOnce(scope.clone()));
    let start = Instant::now();
    let call = match call(model, Some(stops)) {
        Ok(call) => call,
        Err(error) => return Finding::problem(WHAT, error.to_string(), "choose another `dialect`"),
    };
    let ended = model.call(call, &scope).await;
    let took = start.elapsed();
    match ended {
        Ok(Outcome::Interrupted { .. }) => Finding::well(
            WHAT,
            format!(
                "an interrupt closes its connection; the first piece came after {:.1} s",
                took.max(Duration::ZERO).as_secs_f64()
            ),
        ),
        Ok(Outcome::Completed(_)) => Finding::note(
            WHAT,
            "its answers come in one piece, so an interrupt finds nothing to stop",
            "look whether a proxy in between holds streams back",
        ),
        Err(error) => Finding::problem(WHAT, causes(&error), llm::hint(&error)),
    }
}
