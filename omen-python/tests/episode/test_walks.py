"""Random legal walks: no log has findings, and each refused move has the code that the machine reports for the packet."""

from __future__ import annotations

import random
from typing import Any

import pytest
from episode_world import SEEN, Get, Set, SetScope, belief, calls, envelope, escalation, findings, plan, ruling, start

from omen import _core
from omen.episode import IllegalMove, Layer1

WALKS = 10_000
STEPS = 12

# A packet for each move that sends one packet, as a model would propose it.
PROPOSALS: dict[str, tuple[str, dict[str, Any]]] = {
    "believe": ("BeliefUpdatePacket", belief()),
    "observe": ("ObservationPacket", SEEN),
    "escalate": ("EscalationPacket", escalation()),
    "act": (
        "DecisionPacket",
        {
            "decision_outcome": "ACT",
            "decision_summary": "safety",
            "constraints_satisfied": {"constitutional_check": True, "budget_check": True, "tier_check": True},
        },
    ),
}


def move(state: str, episode: Any, name: str) -> Any:
    """Makes a legal move, and returns the episode after it."""
    mcp = envelope()
    if name in ("act", "defer", "cancel", "to_escalate", "verify_first"):
        decision = ruling()
        return getattr(episode, name)((decision.to_act() if name == "act" else decision).under(mcp))
    if name == "observe":
        return episode.observe("OBSERVED", SEEN)
    if name in ("believe", "review", "remodel"):
        return getattr(episode, name)(belief())
    if name == "answered":
        return episode.answered(observation_type="user_input", data={"option": "a"})
    if name == "escalate":
        return episode.escalate(escalation())
    if name == "verify":
        return episode.verify(plan()[0])
    if name == "authorize":
        authorized, (permit,) = episode.authorize(SetScope, ttl_seconds=60, rationale="ticket")
        sent, (task,) = authorized.execute(Set.modify({"k": 1}).with_permit(permit))
        return sent.settle(task.success(1))
    if name == "execute_with":
        return episode.execute_with(Get.read(), lambda task: 1)[0]
    if name == "halt":
        return episode.halt("stop")
    if name == "clear":
        return episode.clear(Layer1.assume().order("checked"))
    return episode.alert(alert_type="other", severity="INFO", summary="note")


def verified(episode: Any, order: random.Random) -> Any:
    """Goes through a verification loop in a random legal order of plan and observation."""
    names = ["observe", "verify"]
    order.shuffle(names)
    for name in names:
        episode = move("Verify", episode, name)
    return episode.check(Get.read(), lambda task: task.success(1)).believe(belief())[0]


MOVES = (
    "observe", "believe", "act", "defer", "cancel", "to_escalate", "verify_first", "authorize", "execute_with", "review",
    "remodel", "escalate", "answered", "clear",
)


def walk(number: int, refusals: dict[str, int]) -> list[str]:
    """Makes a random walk, with an illegal proposal on the way, and returns its log."""
    order = random.Random(number)
    table = calls()
    episode: Any = start(on_drop="leave")
    for _ in range(order.randrange(2, STEPS)):
        state = episode._state
        if state == "Verify":
            episode = verified(episode, order)
            continue
        legal = [name for name in MOVES if table[state][name] is None]
        if order.random() < 0.2:
            refused(episode, state, table, order, refusals)
        if order.random() < 0.05 and state != "SafeMode":
            legal = ["halt", "alert"]
        # A token is only for a decision to act that is carried out.
        episode = move(state, episode, order.choice(legal or ["alert"]))
    lines: list[str] = end(episode)
    return lines


def refused(episode: Any, state: str, table: Any, order: random.Random, refusals: dict[str, int]) -> None:
    """Proposes an illegal packet: the machine and the class refuse it with the same code."""
    illegal = [name for name in PROPOSALS if table[state][name] is not None]
    # After results, the class may be more specific than the log: there, a decision or the close may follow (D11).
    if not illegal or episode._handle.class_name() != state:
        return
    name = order.choice(illegal)
    packet_type, payload = PROPOSALS[name]
    before = episode.lines
    with pytest.raises(IllegalMove) as machine:
        episode._handle.send(state, name, packet_type, payload)
    with pytest.raises(IllegalMove) as typed:
        getattr(episode, name)
    code = typed.value.code
    if name == "act" and code in ("E1", "FSM"):
        # The class does not know whether the log had a belief update in an earlier cycle, which E1 requires.
        code = "FSM" if any('"BeliefUpdatePacket"' in line for line in before) else "E1"
    assert machine.value.code == code, f"{name} in {state}"
    assert episode.lines == before
    refusals[f"{state}.{name}"] = refusals.get(f"{state}.{name}", 0) + 1


def end(episode: Any) -> Any:
    """Brings an episode to a legal end, and returns its log."""
    if episode._state in ("Review", "Fork"):
        return episode.close().lines
    if episode._state == "SafeMode":
        return episode.lines
    return episode.halt("the walk is over").lines


def test_random_legal_walks_are_judged_clean() -> None:
    refusals: dict[str, int] = {}
    lines: list[str] = []
    for number in range(WALKS):
        lines += walk(number, refusals)
    (summary,) = [finding["summary"] for finding in findings(lines) if "summary" in finding]
    assert (summary["episodes"], summary["errors"], summary["rejected"]) == (WALKS, 0, 0)
    print(f"{WALKS} walks, {summary['packets']} packets, {sum(refusals.values())} refused moves of {len(refusals)} kinds")
    assert len(refusals) > 20
    assert _core.version()
