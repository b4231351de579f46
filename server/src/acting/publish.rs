//! Publishing a supervisor's event: the same as on the bus.

use control::{Caller, Right, event_key, not_asked};
use interrupts::catalogue::read_event;
use interrupts::store::Admitted;

use super::stop::asker;
use crate::app::App;
use crate::body::unread;
use crate::problem::{Code, Problem};

/// Publishes an event as it was sent. Its id is its key: if it is sent again, the stored answer is returned.
pub(crate) async fn publish(app: &App, caller: &Caller, json: &[u8]) -> Result<Admitted, Problem> {
    Right::Request.demand(caller)?;
    let event = read_event(json).map_err(|e| unread(&e))?;
    if event.reroute_to_agent_type.is_some() {
        // Only a supervisor decides where agents go.
        Right::Direct.demand(caller)?;
    }
    let agent = caller
        .reach
        .agent(app.store(), event.node_id.as_str())
        .await?;
    let catalogue = app.catalogue_of_run(&agent.run).await?;
    let target = agent.target(catalogue.as_deref());
    if caller.reach.bound_run().is_some() {
        let key = event_key(&event).map_err(not_asked)?;
        let known = app.store().interrupt_of(&key).await?;
        if known.is_some_and(|known| !caller.reach.covers(known.run, &known.node)) {
            return Err(Problem::new(
                Code::IdempotencyConflict,
                "$.eventId: the id belongs to another event",
                "use another id for another event",
            ));
        }
    }
    let (control, by) = (app.control(), asker(caller));
    let admitted = control.publish(&target, &event, by).await?;
    app.wake(&agent.run);
    Ok(admitted)
}
