//! The history between two times.

use std::sync::{Arc, Mutex};

use interrupts::Clock;
use interrupts::life::Role;
use jiff::Timestamp;
use reqwest::StatusCode;
use store::{MemoryStore, StoreSettings};

use crate::house::House;
use crate::page::Browser;
use crate::scene::running;

/// A clock that the test sets.
struct SetClock(Mutex<Timestamp>);

impl SetClock {
    fn set(&self, time: &str) {
        *self.0.lock().unwrap() = time.parse().unwrap();
    }
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

/// A house whose runs began at these times, and the ids of the runs.
async fn house_with_runs(times: &[&str]) -> (House, Vec<String>) {
    let clock = Arc::new(SetClock(Mutex::new(times[0].parse().unwrap())));
    let settings = StoreSettings {
        clock: Some(Arc::clone(&clock) as Arc<dyn Clock>),
        ..StoreSettings::default()
    };
    let store = Arc::new(MemoryStore::new(settings));
    let house = House::over(store, |_config| {}).await;
    let mut runs = Vec::new();
    for time in times {
        clock.set(time);
        runs.push(running(&*house.store, None).await.id.to_string());
    }
    (house, runs)
}

#[tokio::test]
async fn what_happened_at_from_is_shown_and_what_happened_at_to_is_not() {
    let (house, runs) = house_with_runs(&[
        "2026-11-21T11:59:59.999Z",
        "2026-11-21T12:00:00Z",
        "2026-11-21T12:59:59.999Z",
        "2026-11-21T13:00:00Z",
    ])
    .await;
    let browser = Browser::of(&house, "alex", Role::Observer).await;
    for (query, shown) in [
        ("", [true, true, true, true]),
        ("from=&to=", [true, true, true, true]),
        ("from=2026-11-21T12:00", [false, true, true, true]),
        ("to=2026-11-21T13:00", [true, true, true, false]),
        (
            "from=2026-11-21T12:00&to=2026-11-21T13:00",
            [false, true, true, false],
        ),
        (
            "from=2026-11-21T12:00:00&to=2026-11-21T12:00:01",
            [false, true, false, false],
        ),
        ("from=2026-11-21T12:59:59.999", [false, false, true, true]),
        // A day alone begins at midnight, and programs name a zone.
        ("from=2026-11-22", [false, false, false, false]),
        ("to=2026-11-22&from=2026-11-21", [true, true, true, true]),
        (
            "from=2026-11-21T15:00:00%2B02:00",
            [false, false, false, true],
        ),
    ] {
        let (status, page) = browser.get(&format!("/history?kind=run&{query}")).await;
        assert_eq!(status, StatusCode::OK, "{query}: {page}");
        let (status, saved) = browser
            .get(&format!("/history/export?kind=run&{query}"))
            .await;
        assert_eq!(status, StatusCode::OK, "{query}: {saved}");
        for (run, shown) in runs.iter().zip(shown) {
            let link = format!("/runs/{run}\"");
            assert_eq!(page.contains(&link), shown, "{query}, {run}: {page}");
            assert_eq!(saved.contains(run), shown, "{query}, {run}: {saved}");
        }
    }
}

#[tokio::test]
async fn the_times_stay_in_the_form_and_in_every_link() {
    let times = vec!["2026-11-21T12:00:30Z"; 60];
    let (house, runs) = house_with_runs(&times).await;
    let browser = Browser::of(&house, "alex", Role::Observer).await;
    let query = "kind=run&from=2026-11-21T12:00:30&to=2026-11-22";
    let (_, page) = browser.get(&format!("/history?{query}")).await;
    for field in [
        "name=\"from\" type=\"datetime-local\" step=\"1\" value=\"2026-11-21T12:00:30\"",
        "name=\"to\" type=\"datetime-local\" step=\"1\" value=\"2026-11-22T00:00:00\"",
        "From (UTC)",
        "To, not included (UTC)",
    ] {
        assert!(page.contains(field), "{field}: {page}");
    }
    let link = |page: &str, title: &str| {
        let link = page.split("href=\"").find(|part| part.contains(title));
        let link = link.unwrap_or_else(|| panic!("{title}: {page}"));
        link.split('"').next().unwrap().replace("&amp;", "&")
    };
    let kept = "from=2026-11-21T12%3A00%3A30&to=2026-11-22";
    for title in [">Older<", ">Save all"] {
        assert!(link(&page, title).contains(kept), "{title}: {page}");
    }
    let (_, older) = browser.get(&link(&page, ">Older<")).await;
    assert!(older.contains(&format!("/runs/{}\"", runs[0])), "{older}");
    assert!(link(&older, ">Newest<").contains(kept), "{older}");
    let (_, saved) = browser.get(&link(&page, ">Save all")).await;
    assert_eq!(saved.lines().count() % runs.len(), 0);
    assert!(saved.lines().count() >= runs.len(), "{saved}");
}

#[tokio::test]
async fn what_is_no_time_is_refused_by_the_name_of_its_field_with_what_would_do() {
    let house = House::open().await;
    let browser = Browser::of(&house, "alex", Role::Observer).await;
    for (query, said) in [
        ("from=yesterday", "from: `yesterday` is no time"),
        ("to=2026-13-01", "to: `2026-13-01` is no time"),
        ("to=12:00", "to: `12:00` is no time"),
        ("from=%3Cimg%3E", "from: `&lt;img&gt;` is no time"),
        (
            "from=2027-01-01&to=2026-11-21",
            "to: 2026-11-21T00:00:00Z is not after",
        ),
        (
            "from=2026-11-21&to=2026-11-21",
            "to: 2026-11-21T00:00:00Z is not after",
        ),
    ] {
        for path in ["/history", "/history/export"] {
            let (status, page) = browser.get(&format!("{path}?{query}")).await;
            assert_eq!(status, StatusCode::BAD_REQUEST, "{query}");
            assert!(page.contains(said), "{query}: {page}");
            let remedy = page.contains("write them as 2026-11-21T12:00, in UTC")
                || page.contains("choose an end that is later");
            assert!(remedy, "{query}: {page}");
        }
    }
}
