"""Names that the server does not know: the type checker refuses each, and an unused `ignore` is an error, too."""

from __future__ import annotations

from interrupt_router import Agent, Interrupt, Operator, Routed


async def wrong(ann: Operator, asked: Interrupt, agent: Agent, routed: Routed) -> None:
    ann.interrupts("opne")  # type: ignore[arg-type]
    ann.runs("sleeping")  # type: ignore[arg-type]
    ann.agents(status="sleeping")  # type: ignore[arg-type]
    await ann.stop("run_1/root", mode="soon")  # type: ignore[arg-type]
    await ann.stop("run_1/root", scope="all")  # type: ignore[arg-type]
    await ann.decide(asked, "maybe")  # type: ignore[arg-type]
    await agent.report("sleeping")  # type: ignore[arg-type]
    await routed.schema("yaml")  # type: ignore[arg-type]
    if asked.state == "done":  # type: ignore[comparison-overlap]
        await ann.withdraw(asked.id)
