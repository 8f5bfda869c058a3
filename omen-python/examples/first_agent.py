"""A first agent: it verifies an assumption, then writes under a token. The model is scripted.

    python examples/first_agent.py > first.jsonl && omen check first.jsonl

The stakes are high, so the agent may act only at quality SUPERB and on verified assumptions. Delete the line that
verifies first, or the one that authorizes, and run mypy or pyright: the error names the rule and the fix.
"""

from __future__ import annotations

import asyncio
from typing import Literal

from omen.episode import (
    Arbitration,
    Closed,
    Envelope,
    Epistemics,
    Evidence,
    Idle,
    Json,
    Modify,
    Plan,
    Quality,
    ReadTool,
    Routing,
    Ruling,
    Scope,
    Setup,
    Stakes,
    Target,
    Task,
    WriteTool,
)

HighStakes = Envelope[Literal["HIGH"], Literal["SUPERB"], Literal["tools_ok"]]


class ConfigGet(ReadTool, name="config.get"):
    """Reads a value of the configuration."""


class ConfigSet(WriteTool, name="config.set"):
    """Writes a value of the configuration."""


class RaisePool(Scope[ConfigSet, Modify]):
    """Writes to the configuration."""


def envelope() -> HighStakes:
    """Returns the envelope of every packet."""
    return Envelope(
        intent={"summary": "raise the connection pool `orders`", "scope": "database orders"},
        stakes=Stakes.of(impact="HIGH", irreversibility="PARTIAL", uncertainty="HIGH", adversariality="BENIGN"),
        quality=Quality.superb("the pool is 80 and healthy", ["pool.orders.max == 80"]),
        budgets={
            "token_budget": 8_000,
            "tool_call_budget": 10,
            "time_budget_seconds": 300,
            "risk_budget": {"envelope": "conservative", "max_loss": 10},
        },
        epistemics=Epistemics.of(
            status="INFERRED",
            freshness="OPERATIONAL",
            confidence=0.9,
            calibration="read from the live configuration",
        ),
        evidence=Evidence.user_observation("ticket OPS-77", "2026-03-01T09:59:00Z"),
        routing=Routing("CREATE", "tools_ok"),
    )


def arbitrate(option: str) -> Ruling:
    """Chooses an option: veto, feasibility, tradeoff."""
    options = Arbitration(option, "restart").veto(lambda name: name != "restart").feasible(lambda name: True)
    return options.tradeoff("safety", "the smallest step that helps")


class Agent:
    """An agent with a tool for the configuration."""

    def __init__(self) -> None:
        self.config = {"pool.orders.max": 50}

    def read(self, task: Task) -> int:
        """Reads the value that a task names."""
        return self.config[str(task.params["key"])]

    async def write(self, task: Task) -> int:
        """Writes the value that a task names."""
        await asyncio.sleep(0)
        self.config[str(task.params["key"])] = 80
        return 80

    async def run(self, idle: Idle) -> Closed:
        """Takes an episode from its beginning to its close."""
        mcp = envelope()
        model = idle.observe(
            "OBSERVED", observation_type="user_input", data={"ask": "raise the pool `orders` to 80"}
        ).believe(belief(None, 50))

        unchanged = Target("nobody else has changed the pool", "config.get reports 50", ConfigGet)
        loop = model.verify_first(arbitrate("verify").under(mcp)).verify(Plan(unchanged))
        proven, value = loop.check_with(ConfigGet.read({"key": "pool.orders.max"}, timeout_seconds=10), self.read)
        seen = proven.observe(
            "OBSERVED", observation_type="tool_output", source_tool="config.get", data={"pool.orders.max": value}
        )
        model, proof = seen.believe(belief(50, value))

        order = arbitrate("raise").to_act().relies_on(proof.verifies(unchanged))
        authorized, (permit,) = model.act(order.under(mcp)).authorize(
            RaisePool, ttl_seconds=60, rationale="ticket OPS-77"
        )
        write = ConfigSet.modify({"key": "pool.orders.max", "value": 80}, timeout_seconds=30).with_permit(permit)
        done, value = await authorized.execute_with_async(write, self.write)
        return done.review(belief(50, value)).close()


def belief(prior: int | None, value: int) -> dict[str, Json]:
    """Returns a belief update about the pool."""
    change: dict[str, Json] = {"domain": "db", "key": "pool.orders.max", "prior_value": prior, "new_value": value}
    kind = "new_belief" if prior is None else "revision"
    return {"update_type": kind, "belief_changes": [change], "evidence_integration": []}


def main() -> None:
    """Runs the agent and prints its log."""
    setup = Setup("corr_orders-pool", envelope(), clock=lambda: "2026-03-01T10:00:00Z")
    with setup.start() as idle:
        closed = asyncio.run(Agent().run(idle))
    print("\n".join(closed.lines))


if __name__ == "__main__":
    main()
