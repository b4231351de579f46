//! The reference server of the protocol, which has something of everything.

use std::time::Duration;

use serde_json::json;
use tools::{CallEnd, Stopped};

use super::stage::{Setting, Stage, finished, modules};

fn table() -> String {
    let program = format!(
        "{}/node_modules/@modelcontextprotocol/server-everything/dist/index.js",
        modules()
    );
    format!(
        "command = \"node\"\nargs = [{}, \"stdio\"]\nlimits = {{ cancel = \"1s\", quiet = \"800ms\" }}",
        json!(program)
    )
}

async fn stage() -> Stage {
    let folder = tempfile::tempdir().unwrap();
    Stage::of(&table(), &Setting::default(), folder).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn its_tools_are_called_and_what_is_no_text_is_described() {
    let stage = stage().await;
    assert_eq!(
        finished(&stage.call("echo", json!({"message": "hello"})).await),
        "Echo: hello"
    );
    let sum = stage.call("get-sum", json!({"a": 2, "b": 3})).await;
    assert!(finished(&sum).contains('5'), "{sum:?}");
    let image = stage.call("get-tiny-image", json!({})).await;
    let text = finished(&image);
    assert!(text.contains("[an image, image/png, "), "{text}");
    let links = stage.call("get-resource-links", json!({"count": 2})).await;
    assert!(finished(&links).contains("[a link to `"), "{links:?}");
    let wrong = stage.call("echo", json!({"message": 5})).await.text();
    assert!(wrong.contains("do not fit at $.message"), "{wrong}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn its_long_operation_ignores_a_cancellation_and_so_the_server_is_ended() {
    let stage = stage().await;
    let controller = stage.executor.config().controller.clone();
    let interrupting = async {
        stage
            .wait_until("progress", || !stage.steps.all().is_empty())
            .await;
        controller.cancel(crate::scene::by_user("enough")).await
    };
    let long = json!({"duration": 30, "steps": 300});
    let call = stage.call("trigger-long-running-operation", long);
    let (message, _cancellation) = tokio::join!(call, interrupting);
    let CallEnd::Interrupted { partial, .. } = &message.end else {
        panic!("{:?}", message.end);
    };
    assert!(
        matches!(partial.stopped, Stopped::Verified { .. }),
        "{partial:?}"
    );
    let next = stage.call("echo", json!({"message": "again"})).await;
    assert_eq!(finished(&next), "Echo: again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silence_that_turns_out_to_be_none_is_not_trusted_again() {
    let folder = tempfile::tempdir().unwrap();
    // It tells of progress once a second: too seldom to be noticed within this time.
    let quiet = table().replace("800ms", "50ms");
    let stage = Stage::of(&quiet, &Setting::default(), folder).await;
    let controller = stage.executor.config().controller.clone();
    let mut seen = Vec::new();
    for _time in 0..2 {
        let before = stage.steps.all().len();
        let interrupting = async {
            stage
                .wait_until("progress", || stage.steps.all().len() > before)
                .await;
            let cancellation = controller.cancel(crate::scene::by_user("enough")).await;
            // Long enough for the next word of it.
            tokio::time::sleep(Duration::from_millis(1300)).await;
            cancellation
        };
        let long = json!({"duration": 30, "steps": 30});
        let call = stage.call("trigger-long-running-operation", long);
        let (message, _cancellation) = tokio::join!(call, interrupting);
        let CallEnd::Interrupted { partial, .. } = message.end else {
            panic!("{:?}", message.end);
        };
        seen.push(partial.stopped);
    }
    assert_eq!(seen[0], Stopped::Quiet);
    assert!(matches!(seen[1], Stopped::Verified { .. }), "{seen:?}");
}
