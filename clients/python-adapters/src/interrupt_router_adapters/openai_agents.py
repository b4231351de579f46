"""OpenAI Agents SDK: a person approves tool calls through the router.

Each tool call that needs an approval becomes a question. The serialized `RunState` is kept as a checkpoint of the run:
a restarted process goes on from there, and asks nothing twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from agents import Agent, Runner, RunResultStreaming, RunState
from agents.items import ToolApprovalItem, TResponseInputItem

from interrupt_router import Run

from ._questions import Slot, Slots, Verdict, ask_approval, is_stopping, parse_arguments, said, together, until_stopping

STATE = "openai_agents"
"""The member of the checkpoint that has the `RunState`; further agents of the run have ``openai_agents:2``."""


async def run_agent(
    run: Run,
    agent: Agent[Any],
    input: str | list[TResponseInputItem],  # noqa: A002 - the word of the SDK
    *,
    kinds: Mapping[str, str] | None = None,
    key: str | None = None,
    context: Any = None,
    **options: Any,
) -> RunResultStreaming:
    """`Runner.run` that runs to the end: people approve the tool calls that need it.

    Call it again after a crash with the same run: it goes on from the last `RunState` that was kept. `kinds` maps tools
    to the kinds of agents that ask for them; other tools ask as the run's own agent. Several agents of one run are told
    apart by a `key`, or else by the order in which they start. A stop ends the agent after its turn; one with the mode
    ``immediate`` cancels the turn. A tool is called again when the process dies before the next state is kept, so do
    what must not happen twice in `run.root.effect`, with `ToolContext.tool_call_id` in the key.
    """
    slot = await Slots.take(run, STATE, key)
    step: Any = input
    if slot.state is not None:
        step = await RunState.from_json(agent, slot.state, context_override=context)
    while True:
        if isinstance(step, RunState):
            await _settle(slot, step, kinds or {})
        options["context"] = None if isinstance(step, RunState) else context
        result = await run.watch.guard(run.root.id, _turns(run, agent, step, options), immediate_only=True)
        if not result.interruptions and (result.final_output is not None or not is_stopping(run)):
            return result
        state: RunState[Any, Agent[Any]] = result.to_state()
        # Another context than a mapping is given again by the caller, so it isn't kept.
        omits = None if context is None or isinstance(context, Mapping) else _nothing
        await slot.keep(state.to_json(context_serializer=omits), _reason(result.interruptions))
        run.root.check()
        step = state


async def _settle(slot: Slot, state: RunState[Any, Agent[Any]], kinds: Mapping[str, str]) -> None:
    """Asks about every tool call that waits, at once, and writes the decisions into the state."""
    waiting = state.get_interruptions()
    verdicts = await together(_ask(slot, item, kinds) for item in waiting)
    for item, verdict in zip(waiting, verdicts, strict=True):
        if verdict.approved and verdict.arguments is None:
            state.approve(item)
        else:
            state.reject(item, rejection_message=_rejection(item, verdict))


def _rejection(item: ToolApprovalItem, verdict: Verdict) -> str:
    if verdict.arguments is None:
        return verdict.message
    # The SDK can't change the arguments of a call, so the model makes another one.
    return f"A person changed the arguments. Call {item.name} again with {verdict.arguments}.{said(verdict.message)}"


async def _turns(run: Run, agent: Agent[Any], step: Any, options: Mapping[str, Any]) -> RunResultStreaming:
    """Runs turns until a tool call needs an approval, the agent ends, or the run stops."""
    result = Runner.run_streamed(agent, step, **options)
    stopping = asyncio.ensure_future(until_stopping(run))
    stopping.add_done_callback(lambda task: None if task.cancelled() else result.cancel(mode="after_turn"))
    try:
        async for _ in result.stream_events():
            pass
    except BaseException:
        result.cancel()
        raise
    finally:
        stopping.cancel()
        await asyncio.gather(stopping, return_exceptions=True)
    return result


def _nothing(context: Any) -> dict[str, Any]:  # noqa: ARG001 - the SDK passes it
    return {}


async def _ask(slot: Slot, item: ToolApprovalItem, kinds: Mapping[str, str]) -> Verdict:
    name = item.qualified_name or item.name or "tool"
    return await ask_approval(slot.run, kinds, slot.key_of(item.call_id or name), name, parse_arguments(item.arguments))


def _reason(waiting: list[ToolApprovalItem]) -> str:
    return f"waits for {', '.join(item.name or 'a tool' for item in waiting)}" if waiting else "after a turn"
