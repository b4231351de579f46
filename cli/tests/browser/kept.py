"""What is chosen and written on a page while others act: it is kept whole, and never meant for anybody else."""

from installation import WORKERS, settled_question

LEFT = {"decision": "respond", "payload": {"selectedChoices": ["left"]}}
STEPS = "look around\nwrite it down"


def all_of_it(installation, page, claim, settled):
    answers(installation, page, claim)
    targets(installation, page, claim, settled)
    words(installation, page, claim, settled)
    as_shown(installation, page, claim, settled)
    steps(installation, page, claim, settled)
    page.close()


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()
    page.wait_for_load_state()


def answers(installation, page, claim):
    """An answer with all its parts is one draft."""
    question = settled_question(installation, installation.ask())
    address = f"{installation.base}/review/{question}"
    page.goto(address)
    sure = page.locator("input[name='confirm.sure']")
    own = page.locator("[id='edit.goal']")

    def filled():
        return [page.get_by_label("Left").is_checked(), sure.first.is_checked(), page.locator("#text").input_value(), own.input_value()]

    wanted = [True, True, "my draft", "my goal"]
    page.get_by_label("Left").check()
    sure.first.check()
    page.locator("#text").fill("my draft")
    page.get_by_text("Fill in the agent's request yourself").click()
    own.fill("my goal")
    for how in ("Claim it", "Give it back"):
        press(page, how)
        claim(f"all that is filled in stays with “{how}”, and is shown", filled() == wanted and own.is_visible(), str(filled()))
    page.reload()
    claim("and with a reload", filled() == wanted, str(filled()))
    page.get_by_label("Left").uncheck()
    page.reload()
    claim("also what is taken back of it", filled() == [False, *wanted[1:]], str(filled()))
    page.get_by_label("Left").check()
    page.context.clear_cookies()
    press(page, "Answer")
    page.locator("#token").fill(installation.token)
    press(page, "Sign in")
    page.wait_for_url(address)
    claim("and with a session that ends", filled() == wanted, str(filled()))
    press(page, "Answer")
    payload = installation.call(f"/v1/interrupts/{question}")["decision"]["payload"]
    said = [payload["selectedChoices"], payload["confirmations"], payload["text"]]
    claim("and is what is sent", said == [["left"], {"sure": True}, "my draft"], str(said))


def paused(installation, run, settled, page):
    """Pauses a run; the pause, once a person is asked how it shall go on."""
    agent = installation.call(f"/v1/agents?run_id={run}")["agents"][0]["agent_id"].replace("/", "%2F")
    order = {"type": "PAUSE", "scope": "run", "reason": "let me look"}
    pause = installation.call(f"/v1/agents/{agent}/interrupts", order)["id"]
    waits = lambda: installation.call(f"/v1/interrupts/{pause}")["state"] == "awaiting_review"
    if not settled(page, waits, 30_000):
        raise SystemExit("the run does not pause")
    return pause


def steps(installation, page, claim, settled):
    """The steps of a plan are part of the draft."""
    installation.stop()
    # So slow that the run can be paused before it has ended.
    installation.serve("--pace", "200")
    order = {"goal": "Write the notes", "options": {"workflow": "plan-execute"}}
    run = installation.call("/v1/runs", order)["run_id"]
    settled(page, lambda: installation.call(f"/v1/agents?run_id={run}")["agents"])
    page.goto(f"{installation.base}/review/{paused(installation, run, settled, page)}")
    written = page.locator("#steps")
    page.get_by_text("Change the plan").click()
    written.fill(STEPS)
    page.reload()
    claim("the steps of a plan that are written stay with a reload, and are shown", written.is_visible() and written.input_value() == STEPS)
    for how in ("Claim it", "Give it back"):
        press(page, how)
        claim(f"and with “{how}”", written.input_value() == STEPS, written.input_value())
    installation.call(f"/v1/runs/{run}/resume", {})
    installation.stop()
    installation.serve()


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
    size = page.viewport_size
    page.set_viewport_size({"width": 320, "height": 800})
    wide = page.evaluate("document.documentElement.scrollWidth")
    claim("and its long name makes no narrow page scroll sideways", wide <= 320, str(wide))
    page.set_viewport_size(size)
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


def as_shown(installation, page, claim, settled):
    """A question that was held while the run was paused is answered on the page that shows it as it was."""
    run = installation.ask()
    question = settled_question(installation, run)
    page.goto(f"{installation.base}/review/{question}")
    before = installation.call(f"/v1/interrupts/{question}")["version"]
    paused(installation, run, settled, page)
    installation.call(f"/v1/runs/{run}/resume", {})
    free = lambda: installation.call(f"/v1/interrupts/{question}")
    settled(page, lambda: free()["version"] != before and not free().get("held_by"))
    page.get_by_label("Left").check()
    press(page, "Answer")
    state = installation.call(f"/v1/interrupts/{question}")["state"]
    claim("what is shown as it was is decided, though it was held meanwhile", state in ("resolved", "rerouted"), state)
