//! Publishing a supervisor's event: the same as on the bus.

use control::{Caller, PublishEvent};
use interrupts::catalogue::read_event;
use interrupts::store::Admitted;

use crate::app::App;
use crate::body::unread;
use crate::problem::Problem;

/// Publishes an event as it was sent. Its id is its key: if it is sent again, the stored answer is returned.
pub(crate) async fn publish(app: &App, caller: &Caller, json: &[u8]) -> Result<Admitted, Problem> {
    let event = read_event(json).map_err(|e| unread(&e))?;
    let command = PublishEvent { run: None, event };
    app.carry_out(caller, command).await
}
