//! Recorded streams that are interrupted at every byte: what is kept is what was whole, and the next call
//! is one that providers take.

use std::sync::Arc;

use llm::{Conversation, ConversationConfig, ConversationRunEnd, check_history, repaired};
use tests::providers::{Behaviour, ProviderDouble, WireForm};

use crate::calls::{ANSWER, double, model, reason};
use crate::chat::opening;

/// Every so many bytes, beside each boundary of events and the bytes around it.
const STEP: usize = 61;

/// The places at which the stream is interrupted, each with the pieces that are whole by then.
fn places(form: WireForm) -> Vec<(usize, usize)> {
    let stream = ProviderDouble::recording(form, ANSWER);
    let ends: Vec<usize> = stream.match_indices("\n\n").map(|(at, _)| at + 2).collect();
    let pieces = ANSWER.len().div_ceil(5);
    // What comes after the last piece would end the answer.
    let last = ends[opening(form) + pieces - 1];
    let around = ends.iter().flat_map(|end| end.saturating_sub(2)..=end + 1);
    let mut places: Vec<usize> = (0..=last).step_by(STEP).chain(around).collect();
    places.retain(|place| *place <= last);
    places.sort_unstable();
    places.dedup();
    let whole = |place: &usize| {
        let events = ends.iter().filter(|end| *end <= place).count();
        events.saturating_sub(opening(form))
    };
    places.iter().map(|place| (*place, whole(place))).collect()
}

#[tokio::test]
async fn an_interrupt_at_any_byte_keeps_the_whole_pieces_and_a_valid_history() {
    let mut interrupted = 0;
    for form in WireForm::ALL {
        for (place, pieces) in places(form) {
            let double = double(form, [Behaviour::StallsAtByte(place), Behaviour::Answers]).await;
            let conversation =
                Conversation::new(ConversationConfig::new(Arc::new(model(&double, form))));
            conversation.send_message("one").unwrap();
            let mut events = conversation.events();
            let (end, ()) = tokio::join!(conversation.run(), async {
                while double.received_count() == 0 {
                    tokio::task::yield_now().await;
                }
                let mut seen = 0;
                while seen < pieces {
                    let event = events.recv().await.unwrap();
                    seen += usize::from(matches!(event, llm::ConversationEvent::Piece { .. }));
                }
                conversation.interrupt(reason());
            });
            let ConversationRunEnd::Interrupted { partial, .. } = end.unwrap() else {
                panic!("{form:?} {place}");
            };
            let kept = &ANSWER[..ANSWER.len().min(pieces * 5)];
            assert_eq!(partial.unwrap().text, kept, "{form:?} {place}");
            double.hang_ups().reached(1).await;
            conversation.send_message("two").unwrap();
            // The double refuses what its provider would.
            assert_eq!(
                conversation.run().await.unwrap(),
                ConversationRunEnd::Answered,
                "{form:?} {place}"
            );
            let users = form.user_texts(&double.received()[1].body);
            let expected = if pieces == 0 {
                vec!["one\n\ntwo"]
            } else {
                vec!["one", "two"]
            };
            assert_eq!(users, expected, "{form:?} {place}");
            let next = conversation.history().for_next_call();
            assert_eq!(check_history(&next), Ok(()), "{form:?} {place}");
            assert_eq!(repaired(next.clone()), next, "nothing is left to repair");
            interrupted += 1;
        }
    }
    println!("{interrupted} places");
    assert!(interrupted > 100);
}
