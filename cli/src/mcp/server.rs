//! The server as one client sees it.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelledNotificationParam,
    CompleteRequestMethod, CompleteRequestParams, CompleteResult, ErrorData, Implementation,
    ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesRequestMethod,
    ListResourceTemplatesResult, ListResourcesRequestMethod, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{RoleServer, ServerHandler};
use tokio::time::Instant;
use workers::{QuestionStatus, WorkKey};

use super::asking::AskRequest;
use super::calls::{Call, Calls};
use super::sessions::Sessions;
use super::tools::{self, ToolName};
use super::{answer, listener, progress};
use crate::asker::{Asker, QuestionWait};
use crate::exit::{Exit, Failure};

/// What a client reads about the server as a whole.
const INSTRUCTIONS: &str = "Asks people. Use ask_human for a question, and request_approval before you do what cannot be \
    undone. People may take minutes or days: where `state` is `open`, do other work and call await_answer with the \
    ticket. After a restart, list_open lists what is still open. Never go on as if an answer had come.";

/// The name of a client that gives none.
const NO_NAME: &str = "client";

/// The server of one client.
pub(super) struct AskServer {
    sessions: Arc<Sessions>,
    calls: Calls,
}

impl AskServer {
    pub(super) fn new(sessions: Arc<Sessions>) -> Self {
        let calls = Calls::default();
        Self { sessions, calls }
    }

    async fn session(&self, context: &RequestContext<RoleServer>) -> Arc<Asker> {
        let client = context.client_info().map(|client| client.name);
        let given = listener::session_of(&context.extensions);
        let client = client.as_deref().unwrap_or(NO_NAME);
        self.sessions.of(client, given.as_deref()).await
    }

    async fn done(
        &self,
        wanted: AskRequest,
        call: &Call<'_>,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Failure> {
        let asker = self.session(context).await;
        match wanted {
            AskRequest::Ask(question, wait) => {
                let asked = asker.ask(question).await?;
                let waited = self.waited(&asker, &asked.key, wait, call, context).await;
                if matches!(waited, Ok(WaitEnd::Cancelled)) {
                    asker.withdraw(&asked.key).await?;
                }
                handed_over(&asker, waited?).await
            }
            AskRequest::Await(key, wait) => {
                let waited = self.waited(&asker, &key, wait, call, context).await;
                handed_over(&asker, waited?).await
            }
            AskRequest::Withdraw(key) => {
                let withdrawn = asker.withdraw(&key).await?;
                handed_over(&asker, WaitEnd::Over(withdrawn)).await
            }
            AskRequest::List => Ok(answer::of_list(&asker.open_questions().await?)),
        }
    }

    /// Waits for an answer, while the client hears of progress.
    async fn waited(
        &self,
        asker: &Asker,
        key: &WorkKey,
        wait: Option<Duration>,
        call: &Call<'_>,
        context: &RequestContext<RoleServer>,
    ) -> Result<WaitEnd, Failure> {
        let until = Instant::now() + wait.unwrap_or(self.sessions.wait);
        let disconnected = async {
            match listener::ends_with_its_connection(&context.extensions) {
                true => context.ct.cancelled().await,
                false => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.sessions.closing.cancelled() => Ok(WaitEnd::Closed),
            () = call.cancelled.cancelled() => Ok(WaitEnd::Cancelled),
            () = disconnected => Ok(WaitEnd::Cancelled),
            waited = asker.wait(key, until) => Ok(match waited? {
                QuestionWait::Over(status) => WaitEnd::Over(status),
                QuestionWait::Open(status) => WaitEnd::Open(status),
            }),
            () = progress::report(context, "waiting for a person") => Ok(WaitEnd::Closed),
        }
    }
}

/// How waiting ended.
enum WaitEnd {
    Over(QuestionStatus),
    Open(QuestionStatus),
    /// The client cancelled the call.
    Cancelled,
    /// The client is gone, or this process ends: the question stays open.
    Closed,
}

/// The result that goes to the client. The question's outcome counts as read from here on.
async fn handed_over(asker: &Asker, ending: WaitEnd) -> Result<CallToolResult, Failure> {
    match ending {
        WaitEnd::Open(status) => Ok(answer::of_question(&status)),
        WaitEnd::Over(status) => {
            let status = asker.hand_over(status).await?;
            Ok(answer::of_question(&status))
        }
        WaitEnd::Cancelled => Err(Failure::new(Exit::Stopped, "the call was cancelled")),
        WaitEnd::Closed => Err(Failure::new(
            Exit::Stopped,
            "irq mcp ends; the question stays open",
        )
        .hint("ask with the same words once it runs again")),
    }
}

impl ServerHandler for AskServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let own =
            Implementation::new("irq", env!("CARGO_PKG_VERSION")).with_title("Interrupt Router");
        ServerConfig::new(capabilities)
            .with_server_info(own)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::all()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::all().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = ToolName::of(&request.name) else {
            let text = format!("there is no tool `{}`", request.name);
            return Err(ErrorData::invalid_params(text, None));
        };
        let call = self.calls.begin(context.id.clone());
        let wanted = AskRequest::of(tool, request.arguments.unwrap_or_default());
        let done = match wanted {
            Ok(wanted) => self.done(wanted, &call, &context).await,
            Err(failure) => Err(failure),
        };
        Ok(done
            .unwrap_or_else(|failure| answer::of_failure(&failure))
            .into())
    }

    // Undeclared features do not exist; by default, the library would answer these with empty lists.

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourcesRequestMethod>())
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(ErrorData::method_not_found::<
            ListResourceTemplatesRequestMethod,
        >())
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    async fn on_cancelled(
        &self,
        notification: CancelledNotificationParam,
        _context: NotificationContext<RoleServer>,
    ) {
        if let Some(id) = &notification.request_id {
            self.calls.cancel(id);
        }
    }
}
