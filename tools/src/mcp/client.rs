//! Our side of the protocol: what a server may ask of us, and tell us unasked.

use std::sync::{Arc, Weak};
use std::time::Duration;

use jiff::Timestamp;
use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, ErrorData, FormElicitationCapability, Implementation, ProtocolVersion,
};
use rmcp::service::{InboundStreamOrigin, NotificationContext, RequestContext, RoleClient};
use routing_core::{StopMode, StopReason, StopScope, StopSource};
use serde_json::Value;

use super::book::{Book, Ongoing};
use super::elicitation::{ElicitationAnswer, ElicitationForm, ElicitationRequest};
use super::server::Server;
use crate::arguments::ArgumentsSchema;

/// How often a person is asked again whose answer does not fit.
const ASKED_AT_MOST: usize = 3;

/// How long whoever asks a person may take to withdraw the question.
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

    async fn ask(
        &self,
        server: &Server,
        message: String,
        schema: Value,
        calls: &[Arc<Ongoing>],
        scope: &StopScope,
    ) -> ElicitResult {
        let Ok(fits) = ArgumentsSchema::compile(&schema) else {
            tracing::warn!(server = %server.name, "an MCP server asks for an answer of a form that cannot be used");
            return ElicitResult::new(ElicitationAction::Decline);
        };
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
                ElicitationAnswer::Decline => return ElicitResult::new(ElicitationAction::Decline),
                ElicitationAnswer::Cancel => return ElicitResult::new(ElicitationAction::Cancel),
                ElicitationAnswer::Accept { content } => match fits.check(&content) {
                    Ok(()) => {
                        return ElicitResult::new(ElicitationAction::Accept).with_content(content);
                    }
                    Err(misfit) => request.problem = Some(misfit.to_string()),
                },
            }
        }
        ElicitResult::new(ElicitationAction::Cancel)
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
        let declined = ElicitResult::new(ElicitationAction::Decline);
        let calls = self.calls(&context);
        let ElicitRequestParams::FormElicitationParams {
            message,
            requested_schema,
            ..
        } = request
        else {
            return Ok(declined);
        };
        let (Some(server), false) = (self.server.upgrade(), calls.is_empty()) else {
            // Nobody waits for a call, so no person is bothered.
            return Ok(declined);
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
        tokio::select! {
            answer = &mut asking => return Ok(answer),
            () = context.ct.cancelled() => {}
            () = all_over => {}
        }
        scope.stop(void());
        let _withdrawn = tokio::time::timeout(WITHDRAWN_WITHIN, asking).await;
        // An answer that overtook the cancellation would let the call go on, and finish.
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

/// Why a question is withdrawn.
fn void() -> StopReason {
    StopReason {
        source: StopSource::System,
        mode: StopMode::Immediate,
        message: "the call that the question is about has ended".to_owned(),
        timestamp: Timestamp::now(),
    }
}
