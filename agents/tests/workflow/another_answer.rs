//! A model that never answers the same twice, people who decide in any way, and processes that die or are stopped
//! anywhere: no decision is lost, no recorded answer is asked for again, and the run goes on as it is recorded.
//! `ANSWERS=1000` says how many runs; 30 where it is not set.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use agents::RouteType;
use agents::records::InterruptRouting;
use async_trait::async_trait;
use engine::run::{RunReport, RunStatus};
use interrupt_router::model::{
    AnswerSchemaRef, Awaited, LanguageModel, ModelCall, ModelCaller, ModelError, ModelReply,
    PartialReply, Purpose, TokenUsage,
};
use interrupt_router::review::Answer;
use interrupt_router::schema::Dialect;
use interrupt_router::{
    DecisionId, InterruptRoutes, NodeId, Outcome, Routing, RunId, StopMode, StopReason, StopScope,
    StopSource,
};
use interrupts::life::{Actor, Choosing, Interrupt, Judge, Role, RunState, State, Verdict};
use interrupts::store::{Filter, Store};
use interrupts::{ActorName, EffectId, RouteName};
use llm::{RehearsalConfig, RehearsalModel};
use serde_json::{Value, json};
use store::{MemoryStore, StoreSettings};

use crate::lives::{ALL, NoReviewer, asked_about, place};
use crate::models::{Part, Playing, Reply, reply};
use crate::stage::Stage;
use engine::testing::{Death, Mortal};

/// Chances that follow from a seed.
struct Chances(u64);

impl Chances {
    fn below(&mut self, bound: u64) -> u64 {
        // SplitMix64: neighbouring seeds give unrelated numbers.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    fn is(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// What all lives of a run share.
struct World {
    store: Arc<dyn Store>,
    run: RunId,
    seed: u64,
    /// How often a model was called, over all lives.
    calls: AtomicU64,
    /// Places that were asked for although their results were there.
    repeated: Mutex<Vec<String>>,
    /// How many answers were wrong, and how many of them were rejected before they had arrived whole.
    wrong: Mutex<[u64; 2]>,
    /// The call of this life at which a person stops the run, and how.
    stop: Mutex<Option<(u64, StopMode)>>,
    scope: Mutex<StopScope>,
}

/// Answers otherwise at every call, and often wrongly.
struct Fickle {
    world: Arc<World>,
}

impl Fickle {
    /// An answer that fits, and that no other call gets.
    async fn right(&self, call: &ModelCall, number: u64) -> Result<Value, Reply> {
        let stage = asked_about(Stage::new());
        let model = RehearsalModel::new(RehearsalConfig {
            seed: self.world.seed ^ number,
            pace: Default::default(),
            ..stage.rehearsal_config()
        });
        let quiet = ModelCall {
            chunks: None,
            ..call.clone()
        };
        match model.call(quiet, &StopScope::new()).await {
            Ok(Outcome::Completed(reply)) => {
                let mut answer: Value = serde_json::from_str(&reply.text).unwrap();
                if let Some(reason) = answer.pointer_mut("/interruptRequest/reason") {
                    *reason = json!(format!("{} ({number})", reason.as_str().unwrap()));
                }
                Ok(answer)
            }
            other => Err(other),
        }
    }

    /// Sends an answer piece by piece, until somebody stops that.
    fn stream(&self, call: &ModelCall, text: &str, scope: &StopScope) -> Reply {
        let usage = TokenUsage {
            input: Some(10),
            output: Some(u64::try_from(text.len()).unwrap()),
        };
        let mut sent = 0;
        while sent < text.len() {
            let end = text.floor_char_boundary((sent + 24).min(text.len()));
            if let Some(chunks) = &call.chunks {
                chunks.chunk(&text[sent..end]);
            }
            sent = end;
            if scope.is_stopped_now() && sent < text.len() {
                let reason = scope.reason().unwrap();
                if reason.source == StopSource::Programmatic {
                    self.world.wrong.lock().unwrap()[1] += 1;
                }
                return Ok(Outcome::Interrupted {
                    reason,
                    partial: PartialReply {
                        text: text[..sent].to_owned(),
                        usage,
                        ..PartialReply::default()
                    },
                });
            }
        }
        Ok(Outcome::Completed(ModelReply {
            tool_requests: Vec::new(),
            text: text.to_owned(),
            usage,
            cut_off: false,
        }))
    }

    fn wrong(&self, call: &ModelCall, right: &Value, number: u64, kind: u64) -> String {
        self.world.wrong.lock().unwrap()[0] += 1;
        let fields = right.as_object().unwrap();
        let (field, request) = fields.iter().next().unwrap();
        let known = call.schema.as_deref().unwrap().value()["properties"].as_object();
        let other = known.and_then(|it| it.keys().find(|key| *key != field));
        match (kind, other) {
            (0, Some(other)) => json!({ other: request, field: request }).to_string(),
            (1, _) => json!({ field: number }).to_string(),
            (2, _) => {
                let text = right.to_string();
                text[..text.floor_char_boundary(text.len() / 2)].to_owned()
            }
            _ => json!({ format!("nonsense{number}"): 1, field: request }).to_string(),
        }
    }
}

#[async_trait]
impl Part for Fickle {
    async fn play(&self, call: &mut ModelCall, scope: &StopScope) -> Option<Reply> {
        let world = &self.world;
        let number = world.calls.fetch_add(1, Ordering::SeqCst) + 1;
        world.ask(call).await;
        let mut chances = Chances(world.seed.wrapping_mul(1_000_003) ^ number);
        if let Some((left, mode)) = &mut *world.stop.lock().unwrap() {
            *left = left.wrapping_sub(1);
            if *left == 0 {
                world.scope.lock().unwrap().stop(StopReason {
                    source: StopSource::User,
                    mode: *mode,
                    message: "let me look".to_owned(),
                    timestamp: jiff::Timestamp::UNIX_EPOCH,
                });
            }
        }
        let right = match self.right(call, number).await {
            Ok(right) => right,
            Err(other) => return Some(other),
        };
        if chances.is(3) {
            let limit = std::time::Duration::ZERO;
            return Some(Err(ModelError::TimedOut {
                limit,
                awaited: Awaited::Whole,
            }));
        }
        // What fills in a request is wrong more often: a person is asked when it is wrong four times.
        let is_wrong = match call.caller.purpose {
            Purpose::Resolution => chances.is(55),
            Purpose::Step | Purpose::Route | Purpose::Review | Purpose::Conversation => {
                chances.is(30)
            }
        };
        let text = if is_wrong && call.caller.purpose == Purpose::Review {
            return Some(reply(format!("no review {number}")));
        } else if is_wrong {
            self.wrong(call, &right, number, chances.below(4))
        } else {
            right.to_string()
        };
        Some(self.stream(call, &text, scope))
    }
}

impl World {
    fn new(seed: u64) -> Arc<Self> {
        Arc::new(Self {
            store: Arc::new(MemoryStore::new(StoreSettings::default())),
            run: RunId::generate(),
            seed,
            calls: AtomicU64::new(0),
            repeated: Mutex::default(),
            wrong: Mutex::default(),
            stop: Mutex::default(),
            scope: Mutex::default(),
        })
    }

    /// Notes a call whose result is recorded already.
    async fn ask(&self, call: &ModelCall) {
        let place = place(call);
        let effect = EffectId::in_run(call.caller.run, &place);
        let entry = self.store.effect(effect).await.unwrap();
        if entry.is_none_or(|entry| entry.result.is_some()) {
            self.repeated.lock().unwrap().push(place);
        }
    }

    /// One life of the run; `None` where its process died.
    async fn live(
        self: &Arc<Self>,
        death: Death,
        stop: Option<(u64, StopMode)>,
    ) -> Option<RunReport> {
        let mortal = Mortal::new(Arc::clone(&self.store), death);
        let mut stage = asked_about(Stage::new());
        stage.run = self.run;
        stage.store = Arc::clone(&mortal) as Arc<dyn Store>;
        stage.reviewer = Some(Arc::new(NoReviewer));
        let model = Playing::new(
            Fickle {
                world: Arc::clone(self),
            },
            stage.rehearsal(),
        );
        let stage = stage.played_by(model);
        let scope = StopScope::new();
        *self.scope.lock().unwrap() = scope.clone();
        *self.stop.lock().unwrap() = stop;
        tokio::select! {
            biased;
            () = mortal.died() => None,
            report = stage.run().execute(&scope) => Some(report),
        }
    }

    async fn interrupts(&self) -> Vec<Interrupt> {
        let filter = Filter {
            run: Some(self.run),
            ..Filter::default()
        };
        let found = self.store.interrupts(&filter, ALL).await.unwrap();
        found.into_iter().map(|(_, interrupt)| interrupt).collect()
    }

    /// Somebody decides what is open, in one way or another.
    async fn decide(&self, chances: &mut Chances, percent: u64) {
        for row in self.interrupts().await {
            let Some(review) = row.review.as_ref() else {
                continue;
            };
            if row.state != State::AwaitingReview || !chances.is(percent) {
                continue;
            }
            let mut verdicts: Vec<Verdict> = row.verdicts().collect();
            verdicts.retain(|verdict| *verdict != Verdict::ModifyPlan);
            let verdict = verdicts[index(chances, verdicts.len())];
            let target = row.routes[index(chances, row.routes.len())].clone();
            let judge = Judge::Person {
                actor: Actor {
                    name: ActorName::new("someone").unwrap(),
                    role: Role::Reviewer,
                },
                version: row.version,
                shown: review.shown,
            };
            let choosing = Choosing {
                id: DecisionId::generate(),
                verdict,
                target: (verdict == Verdict::Reroute).then_some(target),
                content: self.content(&row, verdict, chances).await,
            };
            self.store.decide(row.id, judge, choosing).await.unwrap();
        }
    }

    async fn content(
        &self,
        row: &Interrupt,
        verdict: Verdict,
        chances: &mut Chances,
    ) -> Option<String> {
        let number = chances.below(1_000_000);
        let answer = match verdict {
            Verdict::Respond => Answer {
                text: Some(format!("said {number}")),
                ..Answer::default()
            },
            Verdict::Edit => Answer {
                edited_request: Some(filled_in(&row.origin, number).await),
                ..Answer::default()
            },
            _ => return None,
        };
        Some(serde_json::to_string(&answer).unwrap())
    }

    /// What was decided is what was carried out.
    async fn check(&self, seed: u64) -> usize {
        assert_eq!(
            *self.repeated.lock().unwrap(),
            [""; 0],
            "seed {seed}: recorded, and asked for again"
        );
        let mut outcomes = HashMap::new();
        for entry in self.store.journal(self.run, ALL).await.unwrap() {
            if entry.intent.kind.as_str() != "interrupt" {
                continue;
            }
            let intent: Value = serde_json::from_str(&entry.intent.content).unwrap();
            let result = entry.result.map(|result| result.content);
            let outcome = result.map(|text| serde_json::from_str::<Value>(&text).unwrap());
            outcomes.insert(intent["interrupt"].as_str().unwrap().to_owned(), outcome);
        }
        let mut decisions = 0;
        for row in self.interrupts().await {
            let Some(decision) = &row.decision else {
                continue;
            };
            let content: Value = serde_json::from_str(&row.content).unwrap();
            let fills = content.get("fills").and_then(Value::as_str);
            let id = fills.map_or_else(|| row.id.to_string(), str::to_owned);
            let outcome = outcomes.get(&id).cloned().flatten();
            let outcome =
                outcome.unwrap_or_else(|| panic!("seed {seed}: nothing came of {row:#?}"));
            decisions += 1;
            if outcome["outcome"] != "routed" {
                continue;
            }
            assert_eq!(outcome["target"], row_target(&row), "seed {seed}: {row:#?}");
            if fills.is_some() {
                let given = decision.content.as_deref().unwrap();
                let given: Value = serde_json::from_str(given).unwrap();
                let made = outcome["answer"]["editedRequest"].clone();
                assert_eq!(made, given["editedRequest"], "seed {seed}: {row:#?}");
                assert_eq!(
                    outcome["filled_by"]["by"], "person",
                    "seed {seed}: {outcome}"
                );
            } else {
                let decided = decision.id.to_string();
                assert_eq!(outcome["decision"], decided, "seed {seed}: {row:#?}");
            }
        }
        decisions
    }
}

fn row_target(row: &Interrupt) -> &str {
    row.decision.as_ref().map_or("", |it| it.target.as_str())
}

fn index(chances: &mut Chances, length: usize) -> usize {
    usize::try_from(chances.below(u64::try_from(length).unwrap())).unwrap()
}

/// A request that fits a route, as a person would write it.
async fn filled_in(route: &RouteName, number: u64) -> Value {
    let route: RouteType = route.as_str().parse().unwrap();
    let route = InterruptRouting::route_to(route);
    let call = ModelCall {
        caller: ModelCaller {
            run: RunId::generate(),
            node: NodeId::root(),
            agent_type: "ORCHESTRATOR",
            purpose: Purpose::Resolution,
            turn: 1,
            correction: 0,
        },
        messages: Vec::new(),
        schema: Some(AnswerSchemaRef::Fixed(
            InterruptRouting::schemas().narrowed(route, Dialect::JsonSchema),
        )),
        tools: Arc::default(),
        forward: None,
        chunks: None,
    };
    let model = RehearsalModel::new(RehearsalConfig {
        seed: number,
        ..RehearsalConfig::default()
    });
    match model.call(call, &StopScope::new()).await {
        Ok(Outcome::Completed(reply)) => {
            let answer: Value = serde_json::from_str(&reply.text).unwrap();
            answer[route.field()].clone()
        }
        other => panic!("{other:?}"),
    }
}

/// One run, disturbed until it ends. How many decisions there were, whether it came to its end, and how many answers
/// were wrong and rejected early.
async fn examine(seed: u64) -> (usize, bool, [u64; 2]) {
    let world = World::new(seed);
    let mut chances = Chances(seed);
    for _life in 0..60 {
        let death = match chances.below(3) {
            0 => Death::Before(index(&mut chances, 120)),
            1 => Death::After(index(&mut chances, 120)),
            _ => Death::Never,
        };
        let mode = if chances.is(50) {
            StopMode::Graceful
        } else {
            StopMode::Immediate
        };
        let stop = chances.is(40).then(|| (1 + chances.below(8), mode));
        if let Some(report) = world.live(death, stop).await
            && let RunStatus::Failed { error, .. } = &report.status
        {
            let is_outage = error.contains("no whole answer within");
            assert!(is_outage, "seed {seed}: {error}");
        }
        let run = world.store.run(world.run).await.unwrap();
        if run.is_some_and(|run| run.state.is_final()) {
            break;
        }
        world.decide(&mut chances, 60).await;
    }
    let run = world.store.run(world.run).await.unwrap();
    let has_ended = run.is_some_and(|run| run.state == RunState::Completed);
    if !has_ended {
        // What was decided last is carried out before it is looked at.
        world.live(Death::Never, None).await;
    }
    let decisions = world.check(seed).await;
    let wrong = *world.wrong.lock().unwrap();
    (decisions, has_ended, wrong)
}

fn runs() -> u64 {
    let asked = std::env::var("ANSWERS").ok();
    asked.map_or(30, |text| text.parse().unwrap())
}

#[tokio::test]
async fn whatever_a_model_says_later_what_was_decided_is_what_happens() {
    let (mut decisions, mut ended, mut wrong) = (0, 0, [0; 2]);
    for seed in 0..runs() {
        let (made, has_ended, answers) = examine(seed).await;
        decisions += made;
        ended += u64::from(has_ended);
        wrong = [wrong[0] + answers[0], wrong[1] + answers[1]];
    }
    let [wrong, early] = wrong;
    println!(
        "{} runs, {ended} completed, {decisions} decisions, {wrong} wrong answers, {early} of them rejected early",
        runs()
    );
    assert!(decisions > 0 && early > 0 && ended > 0);
}
