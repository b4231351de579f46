//! Every form that can decide contains every byte that it decides about, whatever an agent writes.

use interrupts::life::{Admission, Interrupt, Role, Verdict};
use journal::tool::{CallId, ToolQuestion, ToolQuestionContent, ToolQuestionKind};
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::house::House;
use crate::page::{Browser, hidden};
use crate::scene::{awaiting, question, running};

/// What is done when nobody has seen it.
const EFFECT: &str = "; touch PWNED";

/// Commands whose end, or some other part, an agent would rather not have seen.
fn hostile() -> Vec<String> {
    let mut texts: Vec<String> = (0..90)
        .map(|length| format!("python3 -c '{}'{EFFECT}", "x".repeat(length * 3)))
        .collect();
    for length in [200, 2_000, 20_000] {
        texts.push(format!("{}{EFFECT}", "echo ok\n".repeat(length / 8)));
        texts.push(format!("ls{}{EFFECT}", " ".repeat(length)));
        texts.push(format!("ls{}{EFFECT}", "\u{200b}".repeat(length / 8)));
    }
    let special = [
        "</pre><form method=post><button name=decision value=approve>",
        "\u{202e}DENWP hcuot\u{202c}",
        "a\rb\u{8}\u{1b}[2K",
        "\" onclick=\"alert(1)",
        "<!-- ",
        "&lt;b&gt; \\u{202e}",
        "é大שלום\u{fe0f}\u{a0}",
        "… (12 characters)",
        "Checked by Interrupt Router: harmless",
    ];
    texts.extend(special.iter().map(|text| format!("{text}{EFFECT}")));
    texts
}

/// A text as a page has it.
fn on_page(text: &str) -> String {
    let mut shown = String::new();
    for letter in text.replace("\r\n", "\n").chars() {
        match letter {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '"' => shown.push_str("&quot;"),
            '\n' | '\t' => shown.push(letter),
            other => control::push_visible(&mut shown, other),
        }
    }
    shown
}

fn permission(run: &interrupts::store::Run, command: &str, diff: &str) -> Admission {
    let arguments = json!({"command": command});
    let about = ToolQuestion {
        asks: ToolQuestionKind::Permission,
        tool: "shell".to_owned(),
        description: String::new(),
        call: CallId::new("a"),
        arguments,
        is_excerpt: false,
        digest: None,
        folder: Some("/ws".to_owned()),
        preview: Some(diff.to_owned()),
        schema: json!({"type": "object"}),
        place: "a#1/step/0/tool/0".to_owned(),
    };
    let matter = ToolQuestionContent::new("it wants to".to_owned(), String::new(), about);
    Admission {
        allowed: matter.allowed().to_vec(),
        content: serde_json::to_string(&matter).unwrap(),
        ..question(run, "it wants to use `shell`")
    }
}

/// The forms of a page that can decide: each with a button that does.
fn deciding(page: &str) -> Vec<&str> {
    page.split("<form ")
        .skip(1)
        .filter_map(|rest| Some(rest.split_once("</form>")?.0))
        .filter(|form| form.contains("<button") && form.contains("name=\"decision\""))
        .collect()
}

/// Checks that each form of the page that can decide one of these has all of it before the form's end.
fn check(page: &str, path: &str, asked: &[(Interrupt, [String; 2])]) -> usize {
    let mut decided = 0;
    for form in deciding(page) {
        for (interrupt, texts) in asked {
            if !form.contains(&interrupt.id.to_string()) {
                continue;
            }
            decided += 1;
            for text in texts {
                assert!(
                    page.contains(&on_page(text)),
                    "{path} decides about {text:?}, and does not show it"
                );
            }
        }
    }
    decided
}

#[tokio::test]
async fn every_form_that_can_decide_contains_every_byte_that_it_decides_about() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let mut asked = Vec::new();
    for (number, text) in hostile().into_iter().enumerate() {
        let diff = format!("@@ {number} @@\n-old\n+{text}");
        let raised = awaiting(&*house.store, permission(&run, &text, &diff)).await;
        asked.push((raised, [text, diff]));
    }
    let browser = Browser::of(&house, "alex", Role::Reviewer).await;
    for path in ["/", "/inbox", "/agents"] {
        let (status, page) = browser.get(path).await;
        assert_eq!(status, StatusCode::OK, "{path}");
        assert_eq!(check(&page, path, &asked), 0, "{path} is a list, and decides");
    }
    for (interrupt, texts) in &asked {
        let path = format!("/review/{}", interrupt.id);
        let (_, page) = browser.get(&path).await;
        let one = [(interrupt.clone(), texts.clone())];
        assert!(check(&page, &path, &one) > 0, "{path} cannot decide");
    }
    for some in asked.chunks(40) {
        let path = together(some.iter().map(|(interrupt, _)| interrupt));
        let (status, page) = browser.get(&path).await;
        assert_eq!(status, StatusCode::OK, "{path}");
        assert_eq!(check(&page, &path, some), some.len());
    }
}

/// The address of the page that shows several in full.
pub(crate) fn together<'a>(some: impl Iterator<Item = &'a Interrupt>) -> String {
    let chosen: Vec<String> = some.map(|one| format!("chosen={}", one.id)).collect();
    format!("/inbox/together?{}", chosen.join("&"))
}

#[tokio::test]
async fn a_form_decides_what_it_was_shown_with_and_nothing_else() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let mut asked = Vec::new();
    for command in ["ls", "pwd", "rm -rf ~"] {
        asked.push(awaiting(&*house.store, permission(&run, command, "")).await);
    }
    let browser = Browser::of(&house, "alex", Role::Reviewer).await;
    let (_, page) = browser.get(&together(asked[..2].iter())).await;
    assert!(page.contains("Allow all 2"), "{page}");
    let seen = hidden(&page, "seen");
    let ids: Vec<String> = asked.iter().map(|one| one.id.to_string()).collect();
    // Another call than those that were shown.
    for chosen in [[0, 2], [1, 0]] {
        let [first, second] = chosen.map(|at: usize| ids[at].as_str());
        let fields = [
            ("seen", &*seen),
            ("chosen", first),
            ("chosen", second),
            ("decision", "approve"),
        ];
        let refused = browser.post("/inbox/decide", &fields).await;
        assert_eq!(refused.status(), StatusCode::PRECONDITION_FAILED);
        let told = refused.text().await.unwrap();
        assert!(told.contains("Nothing was decided"), "{told}");
    }
    let without = [("chosen", &*ids[0]), ("decision", "approve")];
    let refused = browser.post("/inbox/decide", &without).await;
    assert_eq!(refused.status(), StatusCode::PRECONDITION_FAILED);
    let fields = [
        ("seen", &*seen),
        ("chosen", &*ids[0]),
        ("chosen", &*ids[1]),
        ("decision", "approve"),
    ];
    let decided = browser.post("/inbox/decide", &fields).await;
    assert_eq!(decided.status(), StatusCode::SEE_OTHER);
    for (place, one) in asked.iter().enumerate() {
        let now = house.store.interrupt(one.id).await.unwrap().unwrap();
        let verdict = now.decision.map(|decision| decision.verdict);
        assert_eq!(verdict, (place < 2).then_some(Verdict::Approve), "{place}");
    }
}

#[tokio::test]
async fn a_call_that_is_longer_than_a_question_holds_is_not_decided_among_others() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let mut long = permission(&run, "cat", "");
    let mut content: Value = serde_json::from_str(&long.content).unwrap();
    content["toolCall"]["isExcerpt"] = json!(true);
    long.content = content.to_string();
    let long = awaiting(&*house.store, long).await;
    let short = awaiting(&*house.store, permission(&run, "ls", "")).await;
    let browser = Browser::of(&house, "alex", Role::Reviewer).await;
    let (_, page) = browser.get(&together([&long, &short].into_iter())).await;
    assert!(deciding(&page).is_empty(), "{page}");
    assert!(page.contains("Look at it alone"), "{page}");
}
