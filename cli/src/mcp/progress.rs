//! Progress that a waiting tool reports, so that its client does not give up.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use tokio::time::Instant;

/// How often progress is reported: well below the 60 seconds after which clients give up.
const EVERY: Duration = Duration::from_secs(5);

/// Reports progress for as long as it is polled, if the caller wants to hear of it.
///
/// # Cancel safety
///
/// Safe: no more is reported.
pub(super) async fn report(context: &RequestContext<RoleServer>, message: &str) {
    let Some(token) = context.meta.get_progress_token() else {
        return std::future::pending().await;
    };
    let begun = Instant::now();
    let mut step = 0_f64;
    loop {
        step += 1.0;
        let waited = begun.elapsed().as_secs();
        let told = ProgressNotificationParam::new(token.clone(), step)
            .with_message(format!("{message}, for {waited} s"));
        if let Err(error) = context.peer.notify_progress(told).await {
            tracing::debug!(%error, "the client hears of no progress");
            return std::future::pending().await;
        }
        tokio::time::sleep(EVERY).await;
    }
}
