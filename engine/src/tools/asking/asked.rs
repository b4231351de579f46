//! Which questions were asked about which call, so that looking for them does not cost more with each.

use std::collections::HashMap;

use interrupt_router::{InterruptId, NodeId, RunId};
use interrupts::store::{Filter, Pages, Store};
use journal::error::KeepError;
use journal::tool::ToolQuestionContent;
use tokio::sync::Mutex;

/// How many questions of a node are read together.
const PAGE: u32 = 100;

/// The questions of a run about calls. They are read on from where they were left: a run has one owner, who adds its own.
#[derive(Default)]
pub(super) struct AskedQuestions {
    of_nodes: Mutex<HashMap<NodeId, OfNode>>,
}

#[derive(Default)]
struct OfNode {
    /// The position of the last one that was read.
    after: u64,
    /// By the place of the call, in the order in which they were asked.
    about: HashMap<String, Vec<InterruptId>>,
}

impl OfNode {
    fn add(&mut self, place: String, id: InterruptId) {
        let about = self.about.entry(place).or_default();
        if !about.contains(&id) {
            about.push(id);
        }
    }
}

impl AskedQuestions {
    /// The questions about the call at a place.
    pub(super) async fn about(
        &self,
        store: &dyn Store,
        (run, node): (RunId, &NodeId),
        place: &str,
    ) -> Result<Vec<InterruptId>, KeepError> {
        let mut of_nodes = self.of_nodes.lock().await;
        let of_node = of_nodes.entry(node.clone()).or_default();
        let filter = Filter {
            run: Some(run),
            node: Some(node.clone()),
            states: Vec::new(),
        };
        let mut pages = Pages::after(of_node.after, PAGE);
        while let Some(rows) = pages.next(|page| store.interrupts(&filter, page)).await? {
            for (position, row) in rows {
                of_node.after = position;
                if let Some(matter) = ToolQuestionContent::of(&row.content) {
                    of_node.add(matter.tool_call.place, row.id);
                }
            }
        }
        Ok(of_node.about.get(place).cloned().unwrap_or_default())
    }

    /// A question was asked: one that is admitted at the same time may have been read before it.
    pub(super) async fn add(&self, node: &NodeId, place: &str, id: InterruptId) {
        let mut of_nodes = self.of_nodes.lock().await;
        let of_node = of_nodes.entry(node.clone()).or_default();
        of_node.add(place.to_owned(), id);
    }
}
