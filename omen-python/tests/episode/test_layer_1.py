"""Orders of layer 1: each allows one use, and a refused move leaves it usable."""

from __future__ import annotations

import json
from typing import Any

import pytest
from episode_world import SEEN, SetScope, belief, envelope, escalation, findings, ruling, start

from omen.episode import Alert, IllegalMove, Layer1, Model, StateUsed


def model(**options: Any) -> Model:
    """Returns an episode in which a decision may be made."""
    return start(**options).observe("OBSERVED", SEEN).believe(belief())


def test_layer_1_approves_exceeded_budgets_once() -> None:
    now = ["2026-03-01T10:00:00Z"]
    acting = model(clock=lambda: now[0]).act(ruling().to_act().under(envelope()))
    now[0] = "2026-03-03T10:00:00Z"
    with pytest.raises(IllegalMove) as error:
        acting.authorize(SetScope, ttl_seconds=60, rationale="ticket")
    assert error.value.code == "INV-005"
    signed = Layer1.assume().order("the migration must end")
    alert = Alert.budget_override(signed).revoking("token_earlier")
    with pytest.raises(StateUsed, match=r"order of layer 1 was already used by `budget_override` at .*test_layer_1\.py:\d+"):
        Alert.budget_override(signed)
    with pytest.raises(TypeError, match="pass it to `alert`"):
        alert.to_json()
    with pytest.raises(TypeError, match="not both"):
        acting.alert(alert, summary="go on")
    approved = acting.alert(alert)
    packet = json.loads(approved.lines[-1])
    assert packet["header"]["layer_source"] == 1
    assert packet["payload"]["rationale"] == "budget override: the migration must end"
    assert packet["payload"]["revoked_token_ids"] == ["token_earlier"]
    with pytest.raises(StateUsed, match=r"this alert was already used by `alert` at .*test_layer_1\.py:\d+"):
        approved.alert(alert)
    authorized, _ = approved.authorize(SetScope, ttl_seconds=60, rationale="ticket")
    assert findings(authorized.lines)[-1]["summary"]["errors"] == 0


def test_layer_1_answers_an_escalation_once() -> None:
    asked = model().to_escalate(ruling().under(envelope())).escalate(escalation())
    signed = Layer1.assume().order("take the first option")
    undecided = asked.answered(signed)
    packet = json.loads(undecided.lines[-1])
    assert packet["header"]["layer_source"] == 1
    assert packet["payload"] == {"observation_type": "user_input", "data": {"answer": "take the first option"}}
    with pytest.raises(StateUsed, match="order of layer 1 was already used by `answered`"):
        Alert.budget_override(signed)
    closed = undecided.cancel(ruling().under(envelope())).believe(belief()).close()
    assert findings(closed.lines)[-1]["summary"]["errors"] == 0


def test_a_refused_move_leaves_the_order_usable() -> None:
    class Ids:
        number, repeats = 0, False

        def packet_id(self) -> str:
            self.number += not self.repeats
            return f"pkt_{self.number}"

        def task_id(self) -> str:
            return "task_one"

        def token_id(self) -> str:
            return "token_one"

    ids = Ids()
    asked = model(ids=ids).to_escalate(ruling().under(envelope())).escalate(escalation())
    signed, alert = Layer1.assume().order("go on"), Alert.budget_override(Layer1.assume().order("it is worth it"))
    before = asked.lines
    ids.repeats = True
    with pytest.raises(IllegalMove, match="pkt_"):
        asked.answered(signed)
    with pytest.raises(IllegalMove, match="pkt_"):
        asked.alert(alert)
    assert asked.lines == before
    with pytest.raises(ValueError, match="token_id"):
        asked.alert(alert.revoking(""))
    handle: Any = start()._handle
    with pytest.raises(IllegalMove, match="no escalation is waiting"):
        handle.answered("Escalated", signed)
    ids.repeats = False
    assert len(asked.alert(alert).answered(signed).lines) == len(before) + 2
