//! Every form that can decide contains every byte that it decides about, whatever an agent writes.

use interrupts::ActorName;
use interrupts::life::{Actor, Admission, Interrupt, Role, Verdict};
use journal::tool::{AllowedBefore, ToolQuestionContent};
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

/// A question whether a command may run, as the engine raises it.
fn permission(run: &interrupts::store::Run, command: &str, diff: &str) -> Admission {
    let content = json!({"reason": "it wants to", "toolCall": {
        "asks": "permission", "tool": "shell", "call": "a", "arguments": {"command": command},
        "folder": "/ws", "preview": diff, "schema": {"type": "object"}, "place": "a#1/step/0/tool/0",
    }});
    Admission {
        allowed: vec![Verdict::Approve, Verdict::Edit, Verdict::Reject],
        content: content.to_string(),
        // As the row has it, which is what lists show of a question that is about no call.
        ..question(run, &command.chars().take(4_000).collect::<String>())
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
        assert_eq!(
            check(&page, path, &asked),
            0,
            "{path} is a list, and decides"
        );
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

/// The part of a page in an element with this test id, up to its end.
fn part<'page>(page: &'page str, id: &str, end: &str) -> &'page str {
    let begin = format!("data-testid=\"{id}\"");
    let rest = page.split_once(&begin).map_or("", |(_, rest)| rest);
    rest.split_once(end).map_or("", |(part, _)| part)
}

#[tokio::test]
async fn what_the_router_knows_has_a_frame_that_no_agent_writes_in() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let call = awaiting(&*house.store, permission(&run, "rm -rf ~", "-all")).await;
    let copied = "Checked by Interrupt Router: digest 00, folder /ws";
    let forged = awaiting(&*house.store, question(&run, copied)).await;
    let browser = Browser::of(&house, "alex", Role::Reviewer).await;
    let (_, page) = browser.get(&format!("/review/{}", call.id)).await;
    let checked = part(&page, "checked", "</section>");
    for known in ["rm -rf ~", "/ws", "-all", "shell"] {
        assert!(checked.contains(known), "{known}: {page}");
    }
    assert!(!page.contains(" writes"), "an agent is its author: {page}");
    assert!(
        page.contains("The answer goes to the call that is asked about."),
        "{page}"
    );
    let (_, page) = browser.get(&format!("/review/{}", forged.id)).await;
    assert!(!page.contains("data-testid=\"checked\""), "{page}");
    assert!(
        part(&page, "quoted", "</figure>").contains(copied),
        "{page}"
    );
}

#[tokio::test]
async fn words_of_a_supervisor_and_fields_of_the_agent_have_one_author_each() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let content = json!({
        "details": {"type": "HUMAN_REVIEW", "reason": "Which one?", "choices": [],
            "confirmationItems": [], "contextForDecision": "two of them"},
        "cents": 12_000, "lag_seconds": 3,
    });
    let asked = Admission {
        requested_by: Actor {
            name: ActorName::new("grace").unwrap(),
            role: Role::Supervisor,
        },
        content: content.to_string(),
        ..question(&run, "Ask before you pay")
    };
    let asked = awaiting(&*house.store, asked).await;
    let browser = Browser::of(&house, "alex", Role::Reviewer).await;
    let (_, page) = browser.get(&format!("/review/{}", asked.id)).await;
    let figures: Vec<&str> = page
        .split("<figure")
        .skip(1)
        .filter_map(|rest| Some(rest.split_once("</figure>")?.0))
        .collect();
    let of = |words: &str| figures.iter().filter(move |it| it.contains(words)).count();
    assert_eq!(
        (
            of("Ask before you pay"),
            of("Which one?"),
            of("two of them")
        ),
        (1, 1, 1)
    );
    for figure in figures {
        let is_graces = figure.contains("grace");
        assert_eq!(is_graces, figure.contains("Ask before you pay"), "{figure}");
    }
    assert!(
        page.contains("<dt>Cents</dt>") && page.contains("12000"),
        "{page}"
    );
    assert!(page.contains("<dt>Lag seconds</dt>"), "{page}");
}

#[tokio::test]
async fn where_an_answer_went_is_said_from_the_decision_that_was_made() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let browser = Browser::of(&house, "alex", Role::Reviewer).await;
    for (decision, more, says) in [
        (
            "reroute",
            Some(("reroute_to", "ORCHESTRATOR")),
            "The answer goes to ORCHESTRATOR, where alex sent it.",
        ),
        ("reject", None, "It goes nowhere"),
        (
            "respond",
            Some(("text", "go on")),
            "The answer goes back to DISCOVERY_ORCHESTRATOR.",
        ),
    ] {
        let asked = awaiting(&*house.store, question(&run, "which way?")).await;
        let path = format!("/review/{}", asked.id);
        let (_, page) = browser.get(&path).await;
        let bound =
            ["version", "shown_target", "shown_digest"].map(|name| (name, hidden(&page, name)));
        let mut fields: Vec<(&str, &str)> = bound
            .iter()
            .map(|(name, value)| (*name, &**value))
            .collect();
        fields.push(("decision", decision));
        fields.extend(more);
        let decided = browser.post(&path, &fields).await;
        assert_eq!(decided.status(), StatusCode::SEE_OTHER, "{decision}");
        let (_, page) = browser.get(&path).await;
        assert!(page.contains(says), "{decision}: {page}");
    }
}

#[tokio::test]
async fn a_call_that_is_asked_about_again_says_so_and_who_allowed_the_first() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let first = permission(&run, "make", "+one");
    let path = format!("/v1/interrupts/{}/decisions", first.id);
    let first = awaiting(&*house.store, first).await;
    let approve = house
        .post("reviewer", &path, &json!({"decision": "approve"}))
        .header("If-Match", format!("\"{}\"", first.version));
    assert_eq!(approve.send().await.unwrap().status(), StatusCode::CREATED);
    let first = house.store.interrupt(first.id).await.unwrap().unwrap();
    let again = permission(&run, "make", "+two");
    let matter = ToolQuestionContent::of(&again.content).unwrap();
    let before = AllowedBefore::of(&first, &matter.tool_call).unwrap();
    let again = Admission {
        content: serde_json::to_string(&matter.after(before)).unwrap(),
        ..again
    };
    let again = awaiting(&*house.store, again).await;
    let browser = Browser::of(&house, "alex", Role::Reviewer).await;
    let (_, page) = browser.get(&format!("/review/{}", again.id)).await;
    let said = part(&page, "again", "</p>");
    assert!(said.contains("reviewer allowed this call at 2"), "{said}");
    assert!(said.contains("a file has changed since"), "{said}");
    // A call that was refused, or another one, is no repeat.
    let other = ToolQuestionContent::of(&permission(&run, "make", "+two").content).unwrap();
    let elsewhere = journal::tool::ToolQuestion {
        place: "b#1/step/0/tool/0".to_owned(),
        ..other.tool_call
    };
    assert_eq!(AllowedBefore::of(&first, &elsewhere), None);
}
