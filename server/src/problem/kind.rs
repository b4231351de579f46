//! The kinds of problems: one row for each.

use axum::http::StatusCode;

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident => $status:ident, $code:literal, $title:literal;)*) => {
        /// What kind of problem it is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Kind {
            $($(#[$doc])* $name,)*
        }

        impl Kind {
            /// All of them.
            pub(crate) const ALL: &[Self] = &[$(Self::$name),*];

            /// The status of the response.
            pub(crate) const fn status(self) -> StatusCode {
                match self {
                    $(Self::$name => StatusCode::$status,)*
                }
            }

            /// The code by which programs recognise it.
            pub(crate) const fn code(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)*
                }
            }

            /// The title.
            pub(crate) const fn title(self) -> &'static str {
                match self {
                    $(Self::$name => $title,)*
                }
            }
        }
    };
}

kinds! {
    /// The request cannot be read.
    Malformed => BAD_REQUEST, "malformed", "The request cannot be read";
    /// A parameter of the address or the query is wrong.
    Parameter => BAD_REQUEST, "invalid-parameter", "A parameter is wrong";
    /// The caller is not logged in.
    Unauthenticated => UNAUTHORIZED, "unauthenticated", "Who are you?";
    /// The caller may not do this.
    Forbidden => FORBIDDEN, "forbidden", "Not allowed";
    /// The page of another site sent the request.
    Origin => FORBIDDEN, "foreign-origin", "The request comes from another site";
    /// The host of the request is not this server.
    Host => MISDIRECTED_REQUEST, "foreign-host", "This server does not go by that name";
    /// There is no such resource.
    NotFound => NOT_FOUND, "not-found", "Not found";
    /// There is no such agent.
    AgentNotFound => NOT_FOUND, "agent-not-found", "There is no such agent";
    /// There is no such interrupt.
    InterruptNotFound => NOT_FOUND, "interrupt-not-found", "There is no such interrupt";
    /// There is no such run.
    RunNotFound => NOT_FOUND, "run-not-found", "There is no such run";
    /// There is no such standing rule.
    RuleNotFound => NOT_FOUND, "rule-not-found", "There is no such rule";
    /// The agent has no such message.
    MessageNotFound => NOT_FOUND, "message-not-found", "There is no such message";
    /// The run has no plan.
    PlanNotFound => NOT_FOUND, "plan-not-found", "The run has no plan";
    /// An event led to no interrupt.
    EventNotFound => NOT_FOUND, "event-not-found", "There is no such event";
    /// The resource has no such method.
    Method => METHOD_NOT_ALLOWED, "method-not-allowed", "The resource has no such method";
    /// The body took too long.
    Slow => REQUEST_TIMEOUT, "too-slow", "The request took too long";
    /// More than one agent has the name.
    AmbiguousAgent => CONFLICT, "ambiguous-agent", "More than one agent has that name";
    /// The run has ended.
    RunFinished => CONFLICT, "run-finished", "The run has ended";
    /// Questions of the run are open.
    OpenInterrupts => CONFLICT, "open-interrupts", "Questions of the run are open";
    /// Another caller was first.
    AlreadyResolved => CONFLICT, "already-resolved", "Interrupt already resolved";
    /// The interrupt is in another state.
    NotInState => CONFLICT, "not-in-state", "The interrupt is in another state";
    /// Another reviewer has claimed it.
    Claimed => CONFLICT, "claimed", "Claimed by another reviewer";
    /// A user's interrupt goes first.
    Held => CONFLICT, "held", "Another interrupt goes first";
    /// The message was read, and cannot be taken back.
    AlreadyRead => CONFLICT, "already-read", "The message was read";
    /// It cannot be cancelled any more.
    NotCancelable => CONFLICT, "not-cancelable", "It cannot be cancelled any more";
    /// The name belongs to another run.
    NameTaken => CONFLICT, "name-taken", "The name belongs to another run";
    /// A batch that was all or nothing was not carried out.
    BatchRefused => CONFLICT, "batch-refused", "Nothing of the batch was carried out";
    /// The deadline has passed.
    Expired => GONE, "expired", "Its time is over";
    /// The interrupt has changed since.
    StaleVersion => PRECONDITION_FAILED, "stale-version", "The interrupt has changed";
    /// What was shown is not what is asked.
    ShownDiffers => PRECONDITION_FAILED, "shown-differs", "Something else was shown";
    /// The request is too large.
    TooLarge => PAYLOAD_TOO_LARGE, "too-large", "The request is too large";
    /// The headers are too large.
    HeadTooLarge => REQUEST_HEADER_FIELDS_TOO_LARGE, "headers-too-large", "The headers are too large";
    /// The body is not of a type that is understood.
    MediaType => UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", "The body has another type";
    /// The body has a form that is not understood.
    Shape => UNPROCESSABLE_ENTITY, "invalid-body", "The body has another form";
    /// The verdict is not allowed.
    DecisionNotAllowed => UNPROCESSABLE_ENTITY, "decision-not-allowed", "That cannot be decided";
    /// The decision applies to one question alone.
    NotRememberable => UNPROCESSABLE_ENTITY, "not-rememberable", "The decision cannot be remembered";
    /// The answer does not fit its schema.
    ResponseSchema => UNPROCESSABLE_ENTITY, "response-schema", "The answer does not fit";
    /// The target is none of the routes.
    RouteNotAllowed => UNPROCESSABLE_ENTITY, "route-not-allowed", "It cannot go there";
    /// The plan cannot be changed so.
    PlanRefused => UNPROCESSABLE_ENTITY, "plan-refused", "The plan cannot be changed so";
    /// The run has saved no plan.
    NoPlan => CONFLICT, "no-plan", "The run has no plan";
    /// A plan is changed only while it is on hold for a person.
    NotHeld => CONFLICT, "not-held", "The plan does not stand still";
    /// Another process is working on the run.
    InHand => CONFLICT, "in-hand", "Another process owns the run";
    /// The model suggested no change.
    NoSuggestion => BAD_GATEWAY, "no-suggestion", "The model suggests nothing";
    /// The key belongs to another request.
    IdempotencyConflict => UNPROCESSABLE_ENTITY, "idempotency-conflict", "The key belongs to another request";
    /// The version that was shown is not named.
    PreconditionRequired => PRECONDITION_REQUIRED, "precondition-required", "Say which version you saw";
    /// There is no such workflow.
    WorkflowNotFound => NOT_FOUND, "workflow-not-found", "There is no such workflow";
    /// The description of a workflow is invalid.
    WorkflowRefused => UNPROCESSABLE_ENTITY, "workflow-refused", "The workflow cannot be registered";
    /// The worker no longer owns the run.
    LeaseLost => CONFLICT, "lease-lost", "You do not have the run any more";
    /// Another worker has the run.
    RunOwned => CONFLICT, "run-owned", "Another worker has the run";
    /// A person has to resume the run.
    RunPaused => CONFLICT, "run-paused", "The run is paused";
    /// The agent has ended.
    AgentEnded => CONFLICT, "agent-ended", "The agent has ended";
    /// No question was asked with the key.
    QuestionNotFound => NOT_FOUND, "question-not-found", "There is no such question";
    /// The question waits for its decision.
    NotDecided => CONFLICT, "not-decided", "The question is not decided";
    /// The answer to the question takes no route.
    Declined => CONFLICT, "declined", "Nothing may be carried out after this";
    /// The model's answer does not fit the one route.
    AnswerRejected => UNPROCESSABLE_ENTITY, "answer-rejected", "The answer does not fit its route";
    /// No effect was begun with the key.
    EffectNotFound => NOT_FOUND, "effect-not-found", "There is no such effect";
    /// Too many requests.
    RateLimited => TOO_MANY_REQUESTS, "rate-limited", "Too many requests";
    /// Something failed that should not.
    Internal => INTERNAL_SERVER_ERROR, "internal", "Something failed here";
    /// This server executes no runs.
    NoLauncher => CONFLICT, "executes-no-runs", "This server executes no runs";
    /// The store cannot be used.
    Unavailable => SERVICE_UNAVAILABLE, "unavailable", "The store cannot be used";
    /// The file of the store was deleted, replaced or cut off while it was in use.
    StoreGone => SERVICE_UNAVAILABLE, "store-gone", "The store is gone";
    /// The server is being stopped.
    Draining => SERVICE_UNAVAILABLE, "draining", "The server is being stopped";
    /// The answer took too long.
    AnswerSlow => GATEWAY_TIMEOUT, "answer-too-slow", "The answer took too long";
}
