//! Our side of the protocol: what a server may ask of us, and tell us unasked.

use std::sync::{Arc, Weak};
use std::time::Duration;

use interrupt_router::StopScope;
use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, ErrorData, FormElicitationCapability, Implementation, ProtocolVersion,
};
use rmcp::service::{InboundStreamOrigin, NotificationContext, RequestContext, RoleClient};
use serde_json::Value;

use super::book::{Book, Ongoing};
use super::cancel::ending;
use super::defaults::filled_in;
use super::elicitation::{ElicitationAnswer, ElicitationForm, ElicitationRequest};
use super::server::Server;
use crate::arguments::ArgumentsSchema;

/// How often a person is asked again whose answer does not fit.
const ASKED_AT_MOST: usize = 3;

/// How long the code that asks a person may take to withdraw the question.
const WITHDRAWN_WITHIN: Duration = Duration::from_secs(1);

/// Our side of a connection.
pub(super) struct Client {
    server: Weak<Server>,
    book: Arc<Book>,
}

impl Client {
    pub(super) fn new(server: &Arc<Server>, book: Arc<Book>) -> Self {
        Self {
            server: Arc::downgrade(server),
            book,
        }
    }

    /// The calls that a question may be about.
    fn calls(&self, context: &RequestContext<RoleClient>) -> Vec<Arc<Ongoing>> {
        match context.extensions.get::<InboundStreamOrigin>() {
            Some(InboundStreamOrigin::OutboundRequest(id)) => {
                self.book.get(&id.to_string()).into_iter().collect()
            }
            Some(InboundStreamOrigin::Unassociated) | None => self.book.running(),
        }
    }

    /// What the person says; `None` if no one can be asked.
    async fn ask(
        &self,
        server: &Server,
        message: String,
        schema: Value,
        calls: &[Arc<Ongoing>],
        scope: &StopScope,
    ) -> Option<ElicitResult> {
        let Ok(fits) = ArgumentsSchema::compile(&schema) else {
            tracing::warn!(server = %server.name, "an MCP server asks for an answer of a form that cannot be used");
            return Some(cancelled());
        };
        let form = schema.clone();
        let mut request = ElicitationRequest {
            server: server.name.clone(),
            call: match calls {
                [only] => Some(only.call.clone()),
                _several => None,
            },
            message,
            form: ElicitationForm::Fields { schema },
            problem: None,
        };
        for _time in 0..ASKED_AT_MOST {
            let answer = server.shared.elicitor.elicit(request.clone(), scope).await;
            match answer {
                ElicitationAnswer::Decline => {
                    return Some(ElicitResult::new(ElicitationAction::Decline));
                }
                ElicitationAnswer::Cancel => return Some(cancelled()),
                ElicitationAnswer::Unanswered => return None,
                ElicitationAnswer::Accept { content } => {
                    let content = filled_in(&form, content);
                    match fits.check(&content) {
                        Ok(()) => {
                            let accepted = ElicitResult::new(ElicitationAction::Accept);
                            return Some(accepted.with_content(content));
                        }
                        Err(misfit) => request.problem = Some(misfit.to_string()),
                    }
                }
            }
        }
        Some(cancelled())
    }
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let form = FormElicitationCapability::new().with_schema_validation(true);
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(ElicitationCapability::new().with_form(form));
        ClientConfig::new(
            capabilities,
            Implementation::new("irq", env!("CARGO_PKG_VERSION")),
        )
        .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let calls = self.calls(&context);
        let ElicitRequestParams::FormElicitationParams {
            message,
            requested_schema,
            ..
        } = request
        else {
            // A page of the web: no one is shown it, and so no one declines it.
            return Ok(cancelled());
        };
        let (Some(server), false) = (self.server.upgrade(), calls.is_empty()) else {
            // No one waits for a call, so no person is bothered.
            return Ok(cancelled());
        };
        let schema = serde_json::to_value(requested_schema)
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        let _pauses: Vec<_> = calls.iter().map(|call| call.limit.pause()).collect();
        let scope = StopScope::new();
        let asking = self.ask(&server, message, schema, &calls, &scope);
        tokio::pin!(asking);
        let all_over = async {
            for call in &calls {
                call.scope.stopped_now().await;
            }
        };
        let answered = tokio::select! {
            answer = &mut asking => Some(answer),
            () = context.ct.cancelled() => None,
            () = all_over => None,
        };
        match answered {
            Some(Some(answer)) => return Ok(answer),
            // Which of several calls it is for is not known: ends each of them.
            Some(None) => {
                let reason = ending("nobody can answer what it asks");
                calls
                    .iter()
                    .for_each(|call| call.scope.stop(reason.clone()));
            }
            None => {
                scope.stop(ending("the call that the question is about has ended"));
                let _withdrawn = tokio::time::timeout(WITHDRAWN_WITHIN, asking).await;
            }
        }
        // An answer that overtook the cancellation would let the call continue, and finish.
        for call in &calls {
            tokio::select! {
                () = call.known() => {}
                () = context.ct.cancelled() => {}
            }
        }
        Ok(ElicitResult::new(ElicitationAction::Cancel))
    }

    async fn on_tool_list_changed(&self, context: NotificationContext<RoleClient>) {
        if let Some(server) = self.server.upgrade() {
            server.list_again(&context.peer).await;
        }
    }
}

fn cancelled() -> ElicitResult {
    ElicitResult::new(ElicitationAction::Cancel)
}
