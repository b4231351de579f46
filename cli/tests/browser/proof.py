"""The page in a real browser: `proof.py IRQ [PICTURES]`, with the program and, if wanted, a folder for pictures.

Needs what requirements.txt lists and a Chromium at CHROMIUM or /usr/bin/chromium; `./check --install` installs both.
Says which claims held; exits with 1 where one did not, or where something is missing.
"""

import json
import os
import pathlib
import signal
import sys
import tempfile

try:
    import axe_playwright_python
    from playwright.sync_api import Error, sync_playwright
except ImportError as missing:
    sys.exit(f"{missing}: ./check installs it into target/browser")

sys.dont_write_bytecode = True
import kept
from installation import PLAIN, QUESTION, TWICE, Installation, settled_question

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
if not pathlib.Path(CHROMIUM).exists():
    sys.exit(f"there is no browser {CHROMIUM}: ./check --install installs it, CHROMIUM names another")
PICTURES = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
AXE = (pathlib.Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
failed = []


def claim(text, holds, detail=""):
    print(("holds:  " if holds else "FAILED: ") + text + (f" ({detail})" if detail and not holds else ""))
    if not holds:
        failed.append(text)


def settled(page, look, milliseconds=15_000):
    for _ in range(milliseconds // 50):
        found = look()
        if found:
            return found
        page.wait_for_timeout(50)
    return None


def press_to(page, script, key="Tab", most=80):
    """Presses a key until the element with the focus fits."""
    for _ in range(most):
        page.keyboard.press(key)
        if page.evaluate(f"(() => {{ const it = document.activeElement; return Boolean({script}); }})()"):
            return True
    return False


def by_keyboard(installation, page):
    run = installation.ask()
    page.goto(installation.base)
    link = page.locator("#list a", has_text=QUESTION)
    link.first.wait_for(timeout=15_000)
    reached = press_to(page, f"it.textContent.includes({json.dumps(QUESTION)})")
    page.keyboard.press("Enter")
    page.wait_for_url("**/review/**")
    reached &= press_to(page, "it.type === 'checkbox'")
    page.keyboard.press("Space")
    reached &= press_to(page, "it.textContent.trim() === 'Answer'")
    page.keyboard.press("Enter")
    page.wait_for_load_state()
    ended = settled(page, lambda: installation.call(f"/v1/runs/{run}")["status"] == "completed")
    claim("a question is found, opened and answered by the keyboard alone", reached)
    claim("the agent goes on after the answer", bool(ended))


def race(installation, first, second):
    installation.ask()
    for page in (first, second):
        page.goto(installation.base)
        page.locator("#list a", has_text=QUESTION).first.click(timeout=15_000)
        page.wait_for_url("**/review/**")
        page.get_by_label("Left").check()
    second.locator("textarea").first.fill("my draft")
    first.get_by_role("button", name="Answer", exact=True).click()
    first.wait_for_load_state()
    over = second.locator("#meanwhile [data-testid=over]")
    claim("what happened meanwhile is said where the buttons are", bool(settled(second, over.count)))
    answer = second.get_by_role("button", name="Answer", exact=True)
    claim("and they are disabled", bool(settled(second, answer.is_disabled)))
    told = second.locator("body").inner_text()
    claim("who was late is told that it is decided, and by whom", "ada" in told and "already" in told.lower(), told[:300])


def meanwhile(installation, page):
    """What others do with a question is told on its page while it is open, and what is written there stays."""
    question = settled_question(installation, installation.ask())
    page.goto(f"{installation.base}/review/{question}")
    page.wait_for_timeout(300)
    page.locator("textarea").first.fill("my draft")
    for button in ("Claim it", "Give it back"):
        page.get_by_role("button", name=button).click()
        page.wait_for_load_state()
        kept = page.locator("textarea").first.input_value()
        claim(f"what is being written stays with “{button}”", kept == "my draft", kept)
        page.locator("textarea").first.fill("my draft")
    page.reload()
    page.locator("textarea").first.fill("my draft")
    claimed, answer = page.locator("[data-testid=claimed]"), page.get_by_role("button", name="Answer", exact=True)
    address = f"/v1/interrupts/{question}/claim"
    installation.call(address, {"ttl_s": 600}, "PUT")
    shown = settled(page, claimed.count)
    claim("an open question shows who has claimed it", bool(shown) and "script has claimed it" in claimed.inner_text())
    until = claimed.locator("time").get_attribute("datetime")
    claim("and until when", until == installation.call(f"/v1/interrupts/{question}")["claimed_by"]["until"], until)
    claim("and lets nobody else decide it", answer.is_disabled())
    if PICTURES:
        page.screenshot(path=PICTURES / "claimed.png", full_page=True)
    installation.call(address, method="DELETE")
    claim("until it is given back", bool(settled(page, lambda: not claimed.count() and answer.is_enabled())))
    installation.call(address, {"ttl_s": 2}, "PUT")
    settled(page, claimed.count)
    free = settled(page, lambda: not claimed.count() and answer.is_enabled())
    claim("or until the claim has run out", bool(free))
    installation.decide(question, {"decision": "respond", "payload": {"selectedChoices": ["left"]}})
    told = page.locator("[role=alert]")
    claim("and that somebody else has answered it", bool(settled(page, told.count)) and "script" in told.inner_text())
    claim("what was being written stays", page.locator("textarea").first.input_value() == "my draft")


def restart(installation, page):
    run = installation.ask()
    page.goto(installation.base)
    page.locator("#list a", has_text=QUESTION).first.click(timeout=15_000)
    page.wait_for_url("**/review/**")
    page.reload()
    claim("the stopped server ends cleanly with a page open", installation.stop() == 0)
    page.locator("#unconnected").wait_for(state="visible", timeout=15_000)
    claim("a page without its server says so", page.get_by_role("button", name="Answer", exact=True).is_disabled())
    installation.serve()
    page.reload()
    claim("the session outlives the server", QUESTION in page.locator("[data-testid=quoted]").first.inner_text())
    page.get_by_label("Right").check()
    page.get_by_role("button", name="Answer", exact=True).click()
    page.wait_for_load_state()
    ended = settled(page, lambda: installation.call(f"/v1/runs/{run}")["status"] == "completed")
    claim("what the next server shows can be answered, and the run goes on", bool(ended))


def live(installation, page):
    page.goto(installation.base)
    page.wait_for_timeout(300)
    installation.ask()
    seen = page.locator("#list a", has_text=QUESTION)
    claim("a new question appears without a reload", bool(settled(page, seen.count)))


def agents(installation, page):
    """The list of agents follows the feed; what is opened in it, and where the keyboard is, stays."""
    page.goto(installation.base)
    page.keyboard.press("g")
    page.wait_for_url("**/agents")
    page.wait_for_timeout(300)
    run = installation.ask()
    question = settled_question(installation, run)
    card = page.locator(f"[data-testid=agent][data-agent='{run}/orchestrator']")
    asks = card.locator(f"a[href='/review/{question}']")
    claim("a new agent and its question appear without a reload", bool(settled(page, asks.count)))
    card.locator("summary").press("Enter")
    card.locator("h2 a").focus()
    came = len(page.locator("[data-testid=agent]").all())
    other = installation.ask(PLAIN)
    settled(page, lambda: page.locator("[data-testid=agent]").count() > came)
    claim("what was opened stays open when another one comes", card.locator("details").get_attribute("open") is not None)
    focused = page.evaluate("document.activeElement.getAttribute('href')")
    claim("the keyboard stays where it was", focused == f"/runs/{run}", str(focused))
    card.locator("summary").focus()
    another = installation.ask(PLAIN)
    settled(page, lambda: page.locator("[data-testid=agent]").count() > came + 1)
    page.keyboard.press("Enter")
    claim("also where a part is opened and closed", card.locator("details").get_attribute("open") is None)
    asks.press("Enter")
    page.wait_for_url(f"**/review/{question}")
    installation.decide(question, {"decision": "respond", "payload": {"selectedChoices": ["left"]}})
    for plain in (other, another):
        installation.decide(settled_question(installation, plain), {"decision": "approve"})


def between(installation, page):
    """The history between two times that are chosen in its fields."""
    page.goto(installation.base + "/history")
    page.get_by_label("From (UTC)").fill("2020-01-01T00:00:00")
    page.get_by_label("To, not included (UTC)").fill("2020-01-02T00:00:00")
    page.get_by_role("button", name="Show", exact=True).click()
    page.wait_for_load_state()
    kept = page.get_by_label("From (UTC)").input_value()
    claim("a browser takes back the time that it has sent", kept.startswith("2020-01-01T00:00"), kept)
    claim("nothing of another time is shown", page.locator("tbody tr").count() == 0)
    page.get_by_label("To, not included (UTC)").fill("2100-01-01T00:00:00")
    page.get_by_role("button", name="Show", exact=True).click()
    page.wait_for_load_state()
    claim("what has happened between the times is shown", page.locator("tbody tr").count() > 0)


def together(installation, page):
    """What is chosen in the inbox stays chosen while others come, and is decided together."""
    runs = [installation.ask(PLAIN), installation.ask(PLAIN)]
    for run in runs:
        settled_question(installation, run)
    page.goto(installation.base)
    boxes = page.locator("#list [name=chosen]")
    before = settled(page, lambda: boxes.count() if boxes.count() >= 2 else None)
    rows = [page.locator(f"#list [name=chosen][value^='{settled_question(installation, run)}']") for run in runs]
    for row in rows:
        row.check()
    runs.append(installation.ask(PLAIN))
    came = settled(page, lambda: boxes.count() > (before or 0))
    claim("what is chosen stays chosen when another question comes", came and all(row.is_checked() for row in rows))
    counted = page.locator("#count-open").inner_text().strip()
    open_now = len(installation.call("/v1/interrupts?status=open")["interrupts"])
    claim("the tab and the title count what waits", counted == f"({open_now})" and page.title().startswith(counted), counted)
    icon = page.locator("link[rel=icon]").get_attribute("href")
    claim("the icon shows that something waits", icon == "/assets/icon-open.svg", icon)
    page.get_by_role("button", name="Look at what is chosen").click()
    page.wait_for_url("**/inbox/together**")
    claim("what is chosen is shown in full before it is decided", page.locator("[data-testid=together]").count() == 2)
    page.get_by_role("button", name="Approve all 2").click()
    page.wait_for_load_state()
    status = lambda run: installation.call(f"/v1/runs/{run}")["status"]
    ended = settled(page, lambda: all(status(run) == "completed" for run in runs[:2]))
    claim("what was chosen is decided, and the agents go on", bool(ended))
    waiting = settled_question(installation, runs[2])
    claim("what was not chosen still waits", status(runs[2]) != "completed")
    installation.decide(waiting, {"decision": "approve"})


def ended_session(installation, page):
    """Whoever writes while his session ends comes in again, and goes on with what he has written."""
    question = settled_question(installation, installation.ask())
    page.goto(f"{installation.base}/review/{question}")
    page.locator("#text").fill("my draft")
    page.context.clear_cookies()
    page.get_by_role("button", name="Answer", exact=True).click()
    page.locator("#token").fill(installation.token)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"**/review/{question}")
    written = page.locator("#text").input_value()
    claim("what was written while a session ended is there again", written == "my draft", written)
    page.get_by_role("button", name="Answer", exact=True).click()
    page.locator("[data-state=resolved], [data-state=rerouted]").first.wait_for()
    left = page.evaluate("Object.keys(window.sessionStorage).filter((key) => key.startsWith('draft ')).length")
    claim("and nothing of it is kept when the question is decided", left == 0, str(left))
    question = settled_question(installation, installation.ask())
    page.goto(f"{installation.base}/review/{question}")
    page.locator("#text").fill("my draft")
    page.goto(f"{installation.base}/settings")
    page.get_by_role("button", name="Leave").click()
    page.wait_for_load_state()
    left = page.evaluate("Object.keys(window.sessionStorage).filter((key) => key.startsWith('draft ')).length")
    claim("nor when whoever wrote it leaves", left == 0, str(left))


def without_scripts(installation, browser, state):
    run = installation.ask()
    settled_question(installation, run)
    context = browser.new_context(storage_state=state, java_script_enabled=False)
    page = context.new_page()
    page.goto(installation.base)
    page.locator("#list a", has_text=QUESTION).first.click()
    page.get_by_label("Left").check()
    page.get_by_role("button", name="Answer", exact=True).click()
    page.get_by_role("link", name="See how the run goes on").click()
    shown = page.locator("[data-testid=run]").first
    for _ in range(100):
        if shown.get_attribute("data-state") == "completed":
            break
        page.wait_for_timeout(100)
        page.reload()
    claim("without scripts a question is found, answered, and the agent seen to go on", shown.get_attribute("data-state") == "completed")
    context.close()


def many_tabs(installation, context, how):
    """More tabs than a browser opens connections: each is read, follows, and counts."""
    paths = ["/", "/", "/", "/agents", "/settings", f"/runs/{installation.ask()}", "/", "/agents"]
    tabs = [context.new_page() for _ in paths]
    try:
        for tab, path in zip(tabs, paths):
            tab.goto(installation.base + path, timeout=10_000)
        opened = True
    except Error as error:
        opened = str(error)
    claim(f"{how}, eight tabs are open at once", opened is True, opened)
    told = lambda: [line for line in installation.text("/metrics").splitlines() if line.startswith('irq_feed_clients{transport="Sse"}')]
    one = settled(tabs[0], lambda: [line.split()[-1] for line in told()] == ["1"])
    claim("and share one connection to the feed", bool(one), str(told()))
    question = settled_question(installation, installation.ask())
    inboxes = [tab for tab, path in zip(tabs, paths) if path == "/"]
    row = lambda tab: tab.locator(f"#list a[href$='{question}']").count()
    came = settled(tabs[0], lambda: all(row(tab) for tab in inboxes))
    claim("a new question comes to every one of them", bool(came), str([row(tab) for tab in inboxes]))
    open_now = len(installation.call("/v1/interrupts?status=open")["interrupts"])
    counts = lambda: all(tab.title().startswith(f"({open_now}) ") for tab in tabs)
    counted = settled(tabs[0], counts)
    claim("and the title of every page counts it", bool(counted), str([tab.title() for tab in tabs]))
    asks = settled(tabs[3], lambda: tabs[3].locator(f"a[href$='{question}']").count())
    claim("and the agents' pages show who asks", bool(asks))
    for tab in tabs[:7]:
        tab.close()
    last = tabs[7]
    second = settled_question(installation, installation.ask())
    claim("the last tab follows on its own", bool(settled(last, lambda: last.locator(f"a[href$='{second}']").count())))
    last.go_back()
    last.close()


def run_page(installation, context):
    """What one can do with a run follows it, and nothing that is open or written is lost by that."""
    run = installation.ask(TWICE)
    first = settled_question(installation, run)
    page = context.new_page()
    page.goto(f"{installation.base}/runs/{run}")
    page.locator("#stopping summary").click()
    page.locator("#reason").fill("let me look")
    page.locator("#immediate").check()
    page.locator("#sending summary").click()
    page.locator("#text").fill("a long thought")
    page.locator("#text").evaluate("field => { field.focus(); field.setSelectionRange(2, 6); }")
    page.locator("#stopping").evaluate("part => { part.dataset.seen = 'before'; }")
    installation.decide(first, {"decision": "respond", "payload": {"selectedChoices": ["left"]}})
    again = settled(page, lambda: page.locator("#stopping:not([data-seen])").count())
    claim("what one can do with a run is read again when it goes on", bool(again))
    second = settled(page, lambda: [it["id"] for it in installation.call(f"/v1/interrupts?run_id={run}&status=open")["interrupts"] if it["id"] != first])
    claim("and the run asks again", bool(second))
    settled(page, lambda: page.locator("#live [data-state=waiting]").count())
    agents = installation.call(f"/v1/agents?run_id={run}")["agents"]
    live = [it for it in agents if it["status"] not in ("completed", "failed", "cancelled", "pruned")]
    whole = page.locator("#stopping option").first
    counted = settled(page, lambda: whole.inner_text().startswith(f"The whole run: {len(live)} agent"))
    claim("the stop menu counts the agents that there are now", bool(counted), whole.inner_text())
    state = page.evaluate(
        """() => ({
            open: [...document.querySelectorAll("#controls details[open]")].map(part => part.id),
            reason: document.getElementById("reason").value,
            immediate: document.getElementById("immediate").checked,
            text: document.getElementById("text").value,
            at: [document.activeElement.id, document.activeElement.selectionStart, document.activeElement.selectionEnd],
        })"""
    )
    kept = {"open": ["stopping", "sending"], "reason": "let me look", "immediate": True, "text": "a long thought", "at": ["text", 2, 6]}
    claim("what is open, chosen and written stays, with the cursor where it was", state == kept, str(state))
    page.locator("#stopping button[value=PAUSE]").click()
    page.wait_for_load_state()
    goes_on = settled(page, lambda: page.locator("#resume").count() and page.locator("[data-testid=checkpoint]").count(), 30_000)
    claim("a run that is paused from its page can be gone on with, without a reload", bool(goes_on))
    page.close()


def to_the_answer(installation, page):
    opened = settled_question(installation, installation.ask())
    page.goto(f"{installation.base}/review/{opened}?focus=decision")
    inside = page.evaluate("document.activeElement.closest('#decision') !== null")
    claim("a link may lead to the answer at once", inside)
    installation.decide(opened, {"decision": "respond", "payload": {"selectedChoices": ["left"]}})


def looks(installation, browser, state):
    run = installation.ask()
    opened = settled_question(installation, run)
    for scheme in ("light", "dark"):
        for width in (320, 1280):
            context = browser.new_context(
                viewport={"width": width, "height": 800}, color_scheme=scheme, storage_state=state, bypass_csp=True
            )
            page = context.new_page()
            for path in ("/", f"/review/{opened}", f"/runs/{run}", "/runs", "/agents", "/history", "/settings"):
                page.goto(installation.base + path)
                name = f"{path.split('_')[0]} {scheme} {width}"
                wide = page.evaluate("document.documentElement.scrollWidth")
                claim(f"{name} does not scroll sideways", wide <= width, str(wide))
                page.evaluate(AXE)
                found = page.evaluate("axe.run({rules: {'label-content-name-mismatch': {enabled: true}}}).then(it => it.violations.map(v => v.id + ': ' + v.nodes[0].html))")
                claim(f"{name} has nothing that axe finds", not found, "; ".join(found))
                if PICTURES and scheme == "light" and width == 1280 and path.startswith(("/review", "/runs/")):
                    page.screenshot(path=PICTURES / f"page-{path.split('/')[1].rstrip('s')}.png")
            context.close()


def told(installation, runs):
    """The positions of all events of these runs, as the server tells them now."""
    events = []
    for run in runs:
        events += installation.call(f"/v1/runs/{run}/events?limit=500")["events"]
    return sorted(event["sequence"] for event in events)


def offline(installation, page, context):
    page.goto(installation.base)
    page.evaluate(
        """() => {
            window.seen = [];
            const source = new EventSource('/v1/events?after_seq=0');
            source.onmessage = event => window.seen.push(event.lastEventId);
        }"""
    )
    runs = [installation.ask()]
    settled(page, lambda: page.evaluate("seen.length") > 0)
    context.set_offline(True)
    runs.append(installation.ask())
    installation.stop(signal.SIGKILL)
    installation.serve()
    runs.append(installation.ask())
    waiting = [settled_question(installation, run) for run in runs]
    context.set_offline(False)
    rows = [page.locator(f"#list a[href$='{question}']") for question in waiting]
    shown = settled(page, lambda: all(row.count() for row in rows), 30_000)
    claim("back online, the inbox shows what came meanwhile, without a reload", bool(shown))
    claim("and each of it once", all(row.count() == 1 for row in rows), str([row.count() for row in rows]))
    wanted = told(installation, runs)
    complete = settled(page, lambda: set(wanted) <= set(page.evaluate("seen")), 30_000)
    seen = page.evaluate("seen")
    claim("the feed has no gap across being offline and a killed server", bool(complete), f"{len(seen)} seen")
    claim("and tells nothing twice", len(seen) == len(set(seen)) and seen == sorted(seen), f"{len(seen)} seen")
    for question in waiting:
        body = {"decision": "respond", "payload": {"selectedChoices": ["left"]}}
        installation.decide(question, body)


def opened_again(installation, page):
    """Reloading at any moment: in the middle of an answer nothing is decided and the question is there again."""
    run = installation.ask()
    question = settled_question(installation, run)
    page.goto(f"{installation.base}/review/{question}")
    page.get_by_label("Left").check()
    for _ in range(5):
        page.reload()
    claim("a reload decides nothing", installation.call(f"/v1/interrupts/{question}")["state"] == "awaiting_review")
    page.get_by_label("Left").check()
    page.get_by_role("button", name="Answer", exact=True).click()
    page.wait_for_load_state()
    page.reload()
    page.go_back()
    page.reload()
    decided = installation.call(f"/v1/interrupts/{question}")
    claim("going back and reloading after it decides nothing again", decided["state"] == "resolved", decided["state"])


def main():
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        installation = Installation(folder)
        address = installation.serve()
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            context = browser.new_context()
            page = context.new_page()
            page.goto(address)
            claim("the printed address opens the inbox", "launch" not in page.url, page.url)
            state = context.storage_state()
            other = browser.new_context(storage_state=state).new_page()
            by_keyboard(installation, page)
            race(installation, page, other)
            meanwhile(installation, other)
            restart(installation, page)
            live(installation, page)
            opened_again(installation, page)
            agents(installation, page)
            between(installation, page)
            together(installation, page)
            page.goto("about:blank")
            other.goto("about:blank")
            many_tabs(installation, context, "with a shared worker")
            alone = browser.new_context(storage_state=state)
            alone.add_init_script("delete window.SharedWorker")
            many_tabs(installation, alone, "without one")
            run_page(installation, context)
            without_scripts(installation, browser, state)
            to_the_answer(installation, page)
            offline(installation, page, context)
            ended_session(installation, browser.new_context(storage_state=state).new_page())
            kept.all_of_it(installation, browser.new_context(storage_state=state).new_page(), claim, settled)
            looks(installation, browser, state)
        finally:
            browser.close()
            installation.stop()
    print(f"{len(failed)} failed")
    sys.exit(bool(failed))


main()
