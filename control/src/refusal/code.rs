//! The codes of refusals: one row for each.

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident => $status:literal, $code:literal, $title:literal;)*) => {
        /// What kind of refusal it is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[$doc])* $name,)*
        }

        impl Code {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The status of the response, as a number of HTTP (RFC 9110).
            pub const fn status(self) -> u16 {
                match self {
                    $(Self::$name => $status,)*
                }
            }

            /// The name by which programs recognise it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)*
                }
            }

            /// The title.
            pub const fn title(self) -> &'static str {
                match self {
                    $(Self::$name => $title,)*
                }
            }
        }
    };
}

codes! {
    /// The request cannot be read.
    Malformed => 400, "malformed", "The request cannot be read";
    /// A parameter of the address or the query is wrong.
    Parameter => 400, "invalid-parameter", "A parameter is wrong";
    /// The caller is not logged in.
    Unauthenticated => 401, "unauthenticated", "Not signed in";
    /// The caller may not do this.
    Forbidden => 403, "forbidden", "Not allowed";
    /// The page of another site sent the request.
    Origin => 403, "foreign-origin", "The request comes from another site";
    /// The host of the request is not this server.
    Host => 421, "foreign-host", "This server does not go by that name";
    /// There is no such resource.
    NotFound => 404, "not-found", "Not found";
    /// There is no such agent.
    AgentNotFound => 404, "agent-not-found", "There is no such agent";
    /// There is no such interrupt.
    InterruptNotFound => 404, "interrupt-not-found", "There is no such interrupt";
    /// There is no such run.
    RunNotFound => 404, "run-not-found", "There is no such run";
    /// There is no such standing rule.
    RuleNotFound => 404, "rule-not-found", "There is no such rule";
    /// The agent has no such message.
    MessageNotFound => 404, "message-not-found", "There is no such message";
    /// The run has no plan.
    PlanNotFound => 404, "plan-not-found", "The run has no plan";
    /// An event led to no interrupt.
    EventNotFound => 404, "event-not-found", "There is no such event";
    /// The resource has no such method.
    Method => 405, "method-not-allowed", "The resource has no such method";
    /// The body took too long.
    Slow => 408, "too-slow", "The request took too long";
    /// More than one agent has the name.
    AmbiguousAgent => 409, "ambiguous-agent", "More than one agent has that name";
    /// The run has ended.
    RunFinished => 409, "run-finished", "The run has ended";
    /// Questions of the run are open.
    OpenInterrupts => 409, "open-interrupts", "Questions of the run are open";
    /// Another caller was first.
    AlreadyResolved => 409, "already-resolved", "Interrupt already resolved";
    /// The interrupt is in another state.
    NotInState => 409, "not-in-state", "The interrupt is in another state";
    /// Another reviewer has claimed it.
    Claimed => 409, "claimed", "Claimed by another reviewer";
    /// A user's interrupt goes first.
    Held => 409, "held", "Another interrupt goes first";
    /// The message was read, and cannot be taken back.
    AlreadyRead => 409, "already-read", "The message was read";
    /// It cannot be cancelled any more.
    NotCancelable => 409, "not-cancelable", "It cannot be cancelled any more";
    /// The name belongs to another run.
    NameTaken => 409, "name-taken", "The name belongs to another run";
    /// A batch that was all or nothing was not carried out.
    BatchRefused => 409, "batch-refused", "Nothing of the batch was carried out";
    /// The deadline has passed.
    Expired => 410, "expired", "Expired";
    /// The interrupt has changed since.
    StaleVersion => 412, "stale-version", "The interrupt has changed";
    /// What was shown is not what is asked.
    ShownDiffers => 412, "shown-differs", "Something else was shown";
    /// The request is too large.
    TooLarge => 413, "too-large", "The request is too large";
    /// The headers are too large.
    HeadTooLarge => 431, "headers-too-large", "The headers are too large";
    /// The body is not of a type that is understood.
    MediaType => 415, "unsupported-media-type", "The body has another type";
    /// The body has a form that is not understood.
    Shape => 422, "invalid-body", "The body has another form";
    /// The verdict is not allowed.
    DecisionNotAllowed => 422, "decision-not-allowed", "That cannot be decided";
    /// The decision applies to one question alone.
    NotRememberable => 422, "not-rememberable", "The decision cannot be remembered";
    /// The answer does not fit its schema.
    ResponseSchema => 422, "response-schema", "The answer does not fit";
    /// The target is none of the routes.
    RouteNotAllowed => 422, "route-not-allowed", "It cannot go there";
    /// The plan cannot be changed so.
    PlanRefused => 422, "plan-refused", "The plan cannot be changed so";
    /// The run has saved no plan.
    NoPlan => 409, "no-plan", "The run has no plan";
    /// A plan is changed only while it is on hold for a person.
    NotHeld => 409, "not-held", "The plan is not paused for review";
    /// Another process is working on the run.
    InHand => 409, "in-hand", "Another process owns the run";
    /// The model suggested no change.
    NoSuggestion => 502, "no-suggestion", "The model suggests nothing";
    /// The key belongs to another request.
    IdempotencyConflict => 422, "idempotency-conflict", "The key belongs to another request";
    /// The version that was shown is not named.
    PreconditionRequired => 428, "precondition-required", "Say which version you saw";
    /// There is no such workflow.
    WorkflowNotFound => 404, "workflow-not-found", "There is no such workflow";
    /// The description of a workflow is invalid.
    WorkflowRefused => 422, "workflow-refused", "The workflow cannot be registered";
    /// The worker no longer owns the run.
    LeaseLost => 409, "lease-lost", "You do not have the run any more";
    /// Another worker has the run.
    RunOwned => 409, "run-owned", "Another worker has the run";
    /// A person has to resume the run.
    RunPaused => 409, "run-paused", "The run is paused";
    /// The agent has ended.
    AgentEnded => 409, "agent-ended", "The agent has ended";
    /// No question was asked with the key.
    QuestionNotFound => 404, "question-not-found", "There is no such question";
    /// The question waits for its decision.
    NotDecided => 409, "not-decided", "The question is not decided";
    /// The answer to the question takes no route.
    Declined => 409, "declined", "Nothing may be carried out after this";
    /// The model's answer does not fit the one route.
    AnswerRejected => 422, "answer-rejected", "The answer does not fit its route";
    /// No effect was begun with the key.
    EffectNotFound => 404, "effect-not-found", "There is no such effect";
    /// Too many requests.
    RateLimited => 429, "rate-limited", "Too many requests";
    /// Something failed that should not.
    Internal => 500, "internal", "Something failed here";
    /// This server executes no runs.
    NoLauncher => 409, "executes-no-runs", "This server executes no runs";
    /// The store cannot be used.
    Unavailable => 503, "unavailable", "The store cannot be used";
    /// The file of the store was deleted, replaced or cut off while it was in use.
    StoreGone => 503, "store-gone", "The store is gone";
    /// The server is being stopped.
    Draining => 503, "draining", "The server is being stopped";
    /// The answer took too long.
    AnswerSlow => 504, "answer-too-slow", "The answer took too long";
}
