"""Shared values of the tests of episodes."""

from __future__ import annotations

import functools
import itertools
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from omen.episode import (
    Arbitration,
    Delete,
    Envelope,
    Epistemics,
    Evidence,
    Idle,
    Json,
    MixedTool,
    Modify,
    Plan,
    Quality,
    Read,
    ReadTool,
    Routing,
    Ruling,
    Scope,
    Setup,
    Stakes,
    Target,
    Write,
    WriteTool,
)

ROOT = Path(__file__).resolve().parents[3]
NUMBERS: Iterator[int] = itertools.count(1)


class Get(ReadTool, name="config.get"):
    """Tool that reads."""


class Set(WriteTool, name="config.set"):
    """Tool that writes."""


class Drop(WriteTool, name="config.drop"):
    """Another tool that writes."""


class Both(MixedTool, name="config.both"):
    """Tool that reads and writes."""


class SetScope(Scope[Set, Modify]):
    """Scope of one tool and one operation."""


class WideScope(Scope[Set | Drop, Write | Modify | Delete]):
    """Scope of two tools and three operations."""


class BothScope(Scope[Both, Read | Write]):
    """Scope of a tool that reads and writes."""


LowStakes = Envelope[Literal["LOW"], Literal["PAR"], Literal["tools_ok"]]


def envelope(**changes: Any) -> LowStakes:
    """Returns an envelope with low stakes."""
    parts: dict[str, Any] = {
        "intent": {"summary": "test", "scope": "tests"},
        "stakes": Stakes.of(impact="LOW", irreversibility="REVERSIBLE", uncertainty="LOW", adversariality="BENIGN"),
        "quality": Quality.par("the test passes", ["it passes"]),
        "budgets": {
            "token_budget": 1_000_000,
            "tool_call_budget": 100_000,
            "time_budget_seconds": 100_000,
            "risk_budget": {"envelope": "conservative", "max_loss": 10},
        },
        "epistemics": Epistemics.of(status="OBSERVED", freshness="OPERATIONAL", confidence=0.9, calibration="read"),
        "evidence": Evidence.user_observation("chat", "2026-03-01T09:59:00Z"),
        "routing": Routing("CREATE", "tools_ok"),
    }
    return Envelope(**{**parts, **changes})


def start(mcp: LowStakes | None = None, **options: Any) -> Idle:
    """Starts an episode with an id of its own, at a fixed time."""
    options = {"clock": lambda: "2026-03-01T10:00:00Z", **options}
    return Setup(f"corr_test-{next(NUMBERS)}", mcp or envelope(), **options).start()


def belief() -> dict[str, Json]:
    """Returns a belief update."""
    change: dict[str, Json] = {"domain": "db", "key": "k", "new_value": 1, "prior_value": None}
    return {"update_type": "new_belief", "belief_changes": [change], "evidence_integration": []}


SEEN: dict[str, Json] = {"observation_type": "tool_output", "source_tool": "config.get", "data": {"k": 1}}


def ruling() -> Ruling:
    """Returns a ruling."""
    return Arbitration("go", "stop").veto(lambda _: True).feasible(lambda _: True).tradeoff("safety", "it helps")


def plan() -> tuple[Plan, Target]:
    """Returns a plan and its target."""
    target = Target("nobody else writes", "config.get reports 1", Get)
    return Plan(target), target


def escalation() -> dict[str, Json]:
    """Returns an escalation with two options."""
    options: list[Json] = [{"option_id": name, "description": name, "pros": ["p"], "cons": ["c"]} for name in "ab"]
    return {
        "escalation_trigger": "user_override_required",
        "top_options": options,
        "evidence_gaps": [{"gap": "unknown", "impact_if_unknown": "risk"}],
        "recommended_next_step": {"step": "ask", "rationale": "it is unclear"},
    }


def findings(lines: list[str]) -> list[Any]:
    """Returns the findings of the command about a log."""
    omen = os.environ.get("OMEN_COMMAND") or shutil.which("omen")
    assert omen, "the command `omen` is not in the path: install it, or set OMEN_COMMAND"
    log = "".join(f"{line}\n" for line in lines)
    done = subprocess.run([omen, "check", "--format", "json", "-"], input=log, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return [json.loads(line) for line in done.stdout.splitlines() if line]


@functools.cache
def calls() -> dict[str, dict[str, dict[str, str] | None]]:
    """Returns the outcome of each move in each state, from the model of the schema files: `None` is legal."""
    found: dict[str, dict[str, dict[str, str] | None]] = json.loads((ROOT / "omen-python/src/moves.json").read_text())
    return found
