//! Publishing a supervisor's event: the same as on the bus.

use control::{Caller, Requester, Right};
use interrupts::catalogue::read_event;
use interrupts::store::Admitted;

use crate::app::App;
use crate::body::unread;
use crate::problem::Problem;

/// Publishes an event as it was sent. Its id is its key: if it is sent again, the stored answer is returned.
pub(crate) async fn publish(app: &App, caller: &Caller, json: &[u8]) -> Result<Admitted, Problem> {
    let event = read_event(json).map_err(|e| unread(&e))?;
    // Who may not publish it is not told whether the agent is there.
    Right::to_publish(&event).demand(caller)?;
    let agent = caller
        .reach
        .agent(app.store(), event.node_id.as_str())
        .await?;
    let catalogue = app.catalogue_of_run(&agent.run).await?;
    let target = agent.target(catalogue.as_deref());
    let (control, by) = (app.control(), Requester::of(caller));
    let admitted = control.publish(&target, &event, by).await?;
    app.wake(&agent.run);
    Ok(admitted)
}
