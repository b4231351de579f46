"""Pydantic AI: a person approves deferred tool calls through the router.

Each call that needs an approval becomes a question. The message history is kept as a checkpoint of the run before every
request to the model, so that a restarted process goes on from there and asks nothing twice.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import TypeAdapter
from pydantic_ai import Agent, AgentRunResult, DeferredToolRequests, DeferredToolResults, ToolApproved, ToolDenied
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ToolCallPart, UserContent

from interrupt_router import Approved, Run

from ._questions import Slot, Slots, Verdict, agent_for, ask_approval, to_json, together

D = TypeVar("D")

STATE = "pydantic_ai"
"""The member of the checkpoint that has the message history and the deferred calls; the next agent has ``pydantic_ai:2``."""

External = Callable[[ToolCallPart], Any]
"""Gets the result of a call that runs outside of the agent. It may be asynchronous."""

_REQUESTS: TypeAdapter[DeferredToolRequests | None] = TypeAdapter(DeferredToolRequests | None)


async def run_agent(
    run: Run,
    agent: Agent[D, Any],
    prompt: str | Sequence[UserContent] | None,
    *,
    kinds: Mapping[str, str] | None = None,
    key: str | None = None,
    external: External | None = None,
    **options: Any,
) -> AgentRunResult[Any]:
    """`Agent.run` that runs to the end: people approve the tool calls that need it, and answer the agent's questions.

    The agent's output type includes `DeferredToolRequests`, as without the router. Call it again after a crash with the
    same run: it goes on from the message history that was kept. `kinds` maps tools to the kinds of agents that ask for
    them; other tools ask as the run's own agent. Several agents of one run are told apart by a `key`, or else by the
    order in which they start. `external` does the calls that are neither an approval nor a question, each once. A stop
    ends the agent before its next request to the model; one with the mode ``immediate`` cancels the request. Do what
    must not happen twice in `run.root.effect`, with `RunContext.tool_call_id` in the key.
    """
    slot = await Slots.take(run, STATE, key)
    messages, requests = _kept(slot)
    while True:
        results = await _settle(slot, messages or [], requests, kinds or {}, external) if requests else None
        going_on = {**options, "message_history": messages, "deferred_tool_results": results}
        steps = _steps(slot, agent, None if messages else prompt, going_on)
        result = await run.watch.guard(run.root.id, steps, immediate_only=True)
        if not isinstance(result.output, DeferredToolRequests):
            return result
        messages, requests = result.all_messages(), result.output
        names = (call.tool_name for call in (*requests.approvals, *requests.calls))
        await _keep(slot, messages, requests, f"waits for {', '.join(names)}")


def _kept(slot: Slot) -> tuple[list[ModelMessage] | None, DeferredToolRequests | None]:
    state = slot.state
    if state is None:
        return None, None
    return ModelMessagesTypeAdapter.validate_python(state["messages"]), _REQUESTS.validate_python(state["requests"])


async def _keep(slot: Slot, messages: list[ModelMessage], requests: DeferredToolRequests | None, reason: str) -> None:
    state = {
        "messages": ModelMessagesTypeAdapter.dump_python(messages, mode="json"),
        "requests": _REQUESTS.dump_python(requests, mode="json"),
    }
    await slot.keep(state, reason)


async def _steps(slot: Slot, agent: Agent[D, Any], prompt: Any, options: Mapping[str, Any]) -> AgentRunResult[Any]:
    """Runs the agent until it ends or has deferred calls. Stops only before a request to the model."""
    async with agent.iter(prompt, **options) as agent_run:
        async for node in agent_run:
            if Agent.is_model_request_node(node):
                await _keep(slot, [*agent_run.all_messages(), node.request], None, "before a request to the model")
                slot.run.root.check()
    assert agent_run.result is not None
    return agent_run.result


async def _settle(
    slot: Slot,
    messages: list[ModelMessage],
    requests: DeferredToolRequests,
    kinds: Mapping[str, str],
    external: External | None,
) -> DeferredToolResults:
    """Asks about all deferred calls at once."""
    run = slot.run
    ids = Counter(part.tool_call_id for each in messages for part in each.parts if isinstance(part, ToolCallPart))

    def key(call: ToolCallPart) -> str:
        # A model chooses the ids: one that comes again is another call.
        number = ids[call.tool_call_id]
        return slot.key_of(call.tool_call_id, *([str(number)] if number > 1 else []))

    async def approval(call: ToolCallPart) -> tuple[str, Any]:
        return call.tool_call_id, await ask_approval(run, kinds, key(call), call.tool_name, call.args_as_dict())

    async def result(call: ToolCallPart) -> tuple[str, Any]:
        agent = await agent_for(run, call.tool_name, kinds)
        if external is not None and requests.kind(call.tool_call_id) == "external":
            return call.tool_call_id, await agent.effect(key(call), external, call)
        fields = {"tool": call.tool_name, "arguments": to_json(call.args_as_dict())}
        decided = await agent.ask(
            f"Answer the tool {call.tool_name}.", key=key(call), fields=fields, answer_form="words"
        )
        edited = json.dumps(to_json(decided.request)) if isinstance(decided, Approved) and decided.request else None
        said = filter(None, [decided.decision.text if decided.decision else None, edited])
        return call.tool_call_id, "\n".join(said) or f"No answer: {decided.decided_as}."

    asked = [*map(approval, requests.approvals), *map(result, requests.calls)]
    answers = dict(await together(asked))
    verdicts: dict[str, Verdict] = {call.tool_call_id: answers[call.tool_call_id] for call in requests.approvals}
    return requests.build_results(
        approvals={call: _approval(verdict) for call, verdict in verdicts.items()},
        calls={call.tool_call_id: answers[call.tool_call_id] for call in requests.calls},
        metadata={call: {"text": it.message} for call, it in verdicts.items() if it.approved and it.message},
        answered_by={call: verdict.by for call, verdict in verdicts.items() if verdict.by},
    )


def _approval(verdict: Verdict) -> ToolApproved | ToolDenied:
    if verdict.approved:
        return ToolApproved(override_args=verdict.arguments)
    return ToolDenied(verdict.message)
