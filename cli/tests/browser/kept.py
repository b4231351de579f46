"""What is chosen and written on a page while others act: it is kept whole, and never meant for anybody else."""

from installation import WORKERS, settled_question

LEFT = {"decision": "respond", "payload": {"selectedChoices": ["left"]}}


def all_of_it(installation, page, claim, settled):
    targets(installation, page, claim, settled)
    words(installation, page, claim, settled)
    page.close()



def paused(installation, run, settled, page):
    """Pauses a run; the pause, once a person is asked how it shall go on."""
    agent = installation.call(f"/v1/agents?run_id={run}")["agents"][0]["agent_id"].replace("/", "%2F")
    order = {"type": "PAUSE", "scope": "run", "reason": "let me look"}
    pause = installation.call(f"/v1/agents/{agent}/interrupts", order)["id"]
    waits = lambda: installation.call(f"/v1/interrupts/{pause}")["state"] == "awaiting_review"
    if not settled(page, waits, 30_000):
        raise SystemExit("the run does not pause")
    return pause



def targets(installation, page, claim, settled):
    """An agent that is chosen and ends stays chosen: nobody else is stopped or written to instead."""
    run = installation.ask(WORKERS)
    asked = lambda: [it for it in installation.call(f"/v1/interrupts?run_id={run}&status=open")["interrupts"] if it["state"] == "awaiting_review"]
    if not settled(page, lambda: len(asked()) == 2, 90_000):
        raise SystemExit("the workers do not ask")
    one = next(it for it in asked() if it["agent_id"].endswith("worker-1"))
    node = one["agent_id"].split("/", 1)[1]
    page.goto(f"{installation.base}/runs/{run}")
    page.locator("#stopping summary").click()
    page.locator("#node").select_option(node)
    page.locator("#reason").fill("only this worker")
    page.locator("#sending summary").click()
    if page.locator(f"#to option[value='{node}']").count():
        page.locator("#to").select_option(node)
        page.locator("#text").fill("for worker one")
    page.locator("h1").click()
    installation.decide(one["id"], LEFT)
    agent = f"/v1/agents/{one['agent_id'].replace('/', '%2F')}"
    ended = settled(page, lambda: installation.call(agent)["status"] == "completed", 60_000)
    told = settled(page, lambda: page.locator("#node-gone").is_visible())
    claim("an agent that ends stays the one that is to be stopped", bool(ended) and page.locator("#node").input_value() == node)
    claim("and it is said that it has ended", bool(told))
    if page.locator("#to").evaluate("it => it.tagName") == "SELECT":
        claim("as it stays the one that is written to", page.locator("#to").input_value() == node, page.locator("#to").input_value())
    page.locator("#stopping").get_by_role("button", name="End for good").click()
    page.wait_for_load_state()
    refused = page.locator("[data-testid=problem]")
    claim("so that nothing is stopped", refused.count() == 1 and installation.call(f"/v1/runs/{run}")["status"] not in ("cancelled", "stopping"))
    claim("and the form names it still", page.locator("#node").input_value() == node and page.locator("#reason").input_value() == "only this worker")
    page.locator("#node").select_option("")
    claim("until somebody else is chosen", page.locator("#node-gone").is_hidden())
    for it in asked():
        installation.decide(it["id"], LEFT)


def words(installation, page, claim, settled):
    """Words for a run that somebody else lets go on are there again when it has stopped again."""
    run = installation.ask()
    settled_question(installation, run)
    paused(installation, run, settled, page)
    page.goto(f"{installation.base}/runs/{run}")
    written = page.locator("#input")
    settled(page, written.count)
    written.fill("half written words")
    installation.call(f"/v1/runs/{run}/resume", {})
    gone = settled(page, lambda: not written.count())
    claim("words for a run that goes on without them can still be read", bool(gone) and "half written words" in page.locator("#controls").inner_text())
    paused(installation, run, settled, page)
    again = settled(page, written.count, 30_000)
    claim("and stand in their field when it has stopped again", bool(again) and written.input_value() == "half written words")
    installation.call(f"/v1/runs/{run}/resume", {})
    installation.decide(settled_question(installation, run), LEFT)
