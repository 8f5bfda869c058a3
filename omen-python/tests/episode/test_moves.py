"""Moves of an episode at run time: legal ones are written, and illegal ones are refused with the machine's code."""

from __future__ import annotations

import asyncio
import copy
import gc
import json
import pickle
import threading
from pathlib import Path
from typing import Any

import pytest
from episode_world import (
    SEEN,
    BothScope,
    Both,
    Drop,
    Get,
    Set,
    SetScope,
    WideScope,
    belief,
    calls,
    envelope,
    escalation,
    findings,
    plan,
    ruling,
    start,
)

from omen import episode as omen
from omen.episode import (
    Alert,
    Envelope,
    Epistemics,
    Evidence,
    IllegalMove,
    Layer1,
    LogError,
    LogFile,
    Quality,
    Setup,
    Stakes,
    StateUsed,
    ToolFailed,
)


def decided(**options: Any) -> omen.DecideAct:
    """Returns an episode that has decided to act."""
    model = start(**options).observe("OBSERVED", SEEN).believe(belief())
    return model.act(ruling().to_act().under(envelope()))


def test_a_walk_through_every_kind_of_state_is_judged_clean() -> None:
    mcp = envelope()
    loop = start().observe("OBSERVED", SEEN).believe(belief()).verify_first(ruling().under(mcp))
    todo, target = plan()
    sent, (one, two) = loop.verify(todo).execute(Get.read({"k": "a"}), Get.read())
    model, proof = sent.settle(one.success(1), two.success({"k": 1})).observe("OBSERVED", SEEN).believe(belief())
    order = ruling().to_act().relies_on(proof.verifies(target)).assumes("something else")
    authorized, (first, second) = model.act(order.under(mcp)).authorize(
        WideScope, ttl_seconds=60, rationale="ticket", uses=2
    )
    open_, (one, two) = authorized.execute(
        Set.modify({"k": 1}).with_permit(first), Drop.delete({"k": 2}).with_permit(second)
    )
    done = open_.settle(one.success(1), two.failure("no"))
    done, values = done.execute_each([Get.read(), Get.read()], lambda task: str(task.tool_id))
    assert values == ["config.get", "config.get"]
    closed = done.review(belief()).close()
    assert findings(closed.lines)[-1]["summary"]["errors"] == 0
    assert closed.correlation_id.startswith("corr_test-")


def test_directives_are_counted_at_run_time_on_demand() -> None:
    sent, tasks = decided().execute(Get.read(), Get.read())
    some = sent.many().settle([tasks[1].success(1)])
    with pytest.raises(IllegalMove, match="E6") as refused:
        some.all_settled()
    assert refused.value.code == "E6"
    more, (third,) = some.execute(Get.read())
    done = more.settle([tasks[0].cancelled(), third.success(None)]).all_settled()
    assert type(done).__name__ == "Execute"


def test_every_illegal_move_has_the_code_and_the_text_of_the_model() -> None:
    seen = 0
    for state, moves in calls().items():
        value = object.__new__(getattr(omen, state))
        for name, refused in moves.items():
            if refused is None:
                assert callable(getattr(type(value), name)), f"{state}.{name}"
                continue
            with pytest.raises(IllegalMove) as error:
                getattr(value, name)
            assert (error.value.code, error.value.state, error.value.fix) == (refused["code"], state, refused["fix"])
            assert refused["message"] in str(error.value)
            assert name not in dir(value)
            seen += 1
    assert seen == sum(refused is not None for moves in calls().values() for refused in moves.values())
    assert seen > 400


def test_a_stale_handle_names_the_place_of_the_first_use() -> None:
    idle = start()
    idle.observe("OBSERVED", SEEN)
    with pytest.raises(StateUsed, match=r"already used by `observe` at .*test_moves\.py:\d+"):
        idle.observe("OBSERVED", SEEN)
    with pytest.raises(StateUsed):
        _ = idle.lines


def test_a_refused_move_leaves_episode_and_arguments_usable() -> None:
    idle = start()
    with pytest.raises(IllegalMove, match="observation_type") as error:
        idle.observe("OBSERVED", observation_type="a rumour", data={"k": 1})
    assert error.value.code == "SCHEMA"
    model = idle.observe("OBSERVED", SEEN).believe(belief())
    high = envelope(
        stakes=Stakes.of(impact="CRITICAL", irreversibility="PARTIAL", uncertainty="LOW", adversariality="BENIGN"),
        quality=Quality.superb("done", ["check"]),
    )
    order = ruling().to_act().assumes("nobody else writes")
    with pytest.raises(IllegalMove) as error:
        model.decide("ACT", order, high)
    assert error.value.code == "INV-003"
    acted = model.decide("ACT", order, envelope())
    assert type(acted).__name__ == "DecideAct"


def test_permits_tasks_and_results_are_used_once() -> None:
    authorized, (permit, spare) = decided().authorize(SetScope, ttl_seconds=60, rationale="ticket", uses=2)
    order = Set.modify({"k": 1}).with_permit(permit)
    with pytest.raises(StateUsed, match="this permit was already used by `with_permit`"):
        Set.modify({"k": 1}).with_permit(permit)
    sent, (task,) = authorized.execute(order)
    result = task.success(1)
    with pytest.raises(StateUsed, match="this task was already used by `success`"):
        task.failure("no")
    done = sent.settle(result)
    with pytest.raises(StateUsed, match="this order was already used"):
        done.execute(order)
    more, (task,) = done.execute(Set.modify({"k": 2}).with_permit(spare))
    assert type(more.settle(task.success(2)).review(belief()).close()).__name__ == "Closed"


def test_a_batch_is_sent_as_a_whole_or_not_at_all() -> None:
    authorized, (permit,) = decided().authorize(SetScope, ttl_seconds=60, rationale="ticket")
    before = len(authorized.lines)
    foreign, (stranger,) = decided().authorize(SetScope, ttl_seconds=60, rationale="ticket")
    good, bad = Set.modify({"k": 1}).with_permit(permit), Set.modify({"k": 2}).with_permit(stranger)
    with pytest.raises(IllegalMove) as error:
        authorized.execute(good, bad)
    assert error.value.code == "E4"
    assert len(authorized.lines) == before
    sent, (task,) = authorized.execute(good)
    assert type(sent).__name__ == "OpenExecute1"
    sent.settle(task.success(1))
    foreign.end()


def test_a_directive_that_writes_needs_a_permit_of_its_tool() -> None:
    authorized, (permit,) = decided().authorize(SetScope, ttl_seconds=60, rationale="ticket")
    wrong: Any = Drop.delete({"k": 1})
    with pytest.raises(IllegalMove) as error:
        authorized.execute(wrong)
    assert error.value.code == "INV-007"
    with pytest.raises(IllegalMove) as error:
        authorized.execute(wrong.with_permit(permit))
    assert error.value.code in ("E4", "INV-007")


def test_a_mixed_tool_reads_with_a_permit() -> None:
    authorized, (permit,) = decided().authorize(BothScope, ttl_seconds=60, rationale="ticket")
    done, value = authorized.execute_with(Both.read({"operation": "read"}).with_permit(permit), lambda task: 7)
    assert value == 7
    assert findings(done.review(belief()).close().lines)[-1]["summary"]["errors"] == 0


def test_a_tool_that_fails_leaves_its_failure_in_the_log() -> None:
    def tool(task: omen.Task) -> int:
        raise ValueError("no such key")

    with pytest.raises(ToolFailed, match="no such key") as error:
        decided().execute_with(Get.read(), tool)
    assert isinstance(error.value.__cause__, ValueError)
    done = error.value.episode
    assert isinstance(done, omen.Execute)
    assert '"FAILURE"' in done.lines[-1]


def test_an_interruption_cancels_the_task() -> None:
    async def run(episode: omen.DecideAct) -> None:
        async def forever(task: omen.Task) -> int:
            await asyncio.sleep(3600)
            return 1

        await episode.execute_with_async(Get.read(), forever)

    async def cancelled() -> omen.DecideAct:
        episode = decided(log=None)
        running = asyncio.ensure_future(run(episode))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        return episode

    with pytest.raises(StateUsed):
        asyncio.run(cancelled()).execute(Get.read())


def test_with_ends_the_episode_by_its_drop_policy(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with pytest.raises(RuntimeError), start(log=LogFile(path), on_drop="halt") as idle:
        sense = idle.observe("OBSERVED", SEEN)
        raise RuntimeError("stop")
    with pytest.raises(StateUsed, match="has ended"):
        sense.believe(belief())
    lines = path.read_text().splitlines()
    assert '"CRITICAL"' in lines[-1]
    assert findings(lines)[-1]["summary"]["errors"] == 0


def test_the_last_handle_ends_the_episode(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    idle = start(log=LogFile(path))
    sense = idle.observe("OBSERVED", SEEN)
    del sense
    gc.collect()
    # The earlier handle still exists, but does not keep the episode from ending.
    assert len(path.read_text().splitlines()) > 1
    assert idle.correlation_id in path.read_text()


def test_an_episode_is_resumed_from_its_log(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    log = LogFile(path)
    sent, _ = decided(log=log, on_drop="leave").execute(Get.read())
    again = Setup(sent.correlation_id, envelope(), log=log, clock=lambda: "2026-03-01T10:00:00Z").resume()
    assert isinstance(again, omen.ManyExecute)
    with pytest.raises(LogError):
        sent.halt("superseded")
    (task,) = again.tasks()
    closed = again.settle([task.success(1)]).all_settled().review(belief()).close()
    assert closed.lines == []
    assert findings(path.read_text().splitlines())[-1]["summary"]["errors"] == 0


def test_an_episode_is_resumed_from_its_lines() -> None:
    model = start(on_drop="leave").observe("OBSERVED", SEEN).believe(belief())
    lines, name = model.lines, model.correlation_id
    again = Setup(name, envelope(), clock=lambda: "2026-03-01T10:00:00Z", is_copy=True).resume(lines)
    assert isinstance(again, omen.Model)
    assert again.lines == lines
    broken = Setup(name, envelope(), is_copy=True)
    with pytest.raises(LogError, match="line 1 of the log"):
        broken.resume(["{}"])


def test_a_model_proposes_its_moves() -> None:
    idle = start()
    assert "observe" in idle.moves()
    seen = idle.propose('{"packet_type": "ObservationPacket", "payload": {"observation_type": "tool_output", "data": {"k": 1}}}')
    assert isinstance(seen, omen.Sense)
    with pytest.raises(IllegalMove) as error:
        seen.propose('{"packet_type": "DecisionPacket", "payload": {}}')
    assert error.value.state == "Sense"
    said = '{"packet_type": "ObservationPacket", "payload": {"observation_type": "user_input", "data": {"k": 1}}}'
    with pytest.raises(IllegalMove, match="user input"):
        seen.propose(said)
    assert isinstance(seen.propose(said, allow=["user_input"]), omen.Sense)


def test_escalations_and_safe_mode() -> None:
    mcp = envelope()
    asked = start().observe("OBSERVED", SEEN).believe(belief()).to_escalate(ruling().under(mcp)).escalate(escalation())
    undecided = asked.answered(observation_type="user_input", data={"option": "a"})
    stopped = undecided.cancel(ruling().under(mcp)).believe(belief())
    safe = stopped.alert(alert_type="other", severity="INFO", summary="note").halt("stop")
    closed = safe.clear(Layer1.assume().order("it was checked")).close()
    assert findings(closed.lines)[-1]["summary"]["errors"] == 0


def test_a_decision_is_replaced_by_a_loop() -> None:
    loop = decided().verify_first(ruling().under(envelope()))
    assert isinstance(loop, omen.Verify)
    any_ = loop.verify(plan()[0]).into_any()
    assert isinstance(any_, omen.Verify)


def test_the_loop_is_checked_at_run_time_too() -> None:
    loop: Any = decided().verify_first(ruling().under(envelope()))
    with pytest.raises(IllegalMove) as error:
        loop.check(Get.read(), lambda task: task.success(1))
    assert error.value.code == "E3"
    with pytest.raises(IllegalMove) as error:
        loop.believe(belief())
    assert error.value.code == "E3"


def test_copies_pickles_and_truth_values_are_refused() -> None:
    idle = start()
    for use in (copy.copy, copy.deepcopy, pickle.dumps, bool):
        with pytest.raises(TypeError):
            use(idle)
    with pytest.raises(AttributeError):
        getattr(idle, "nothing")
    with pytest.raises(TypeError, match="Setup"):
        omen.Idle()


def test_of_two_threads_one_makes_the_move() -> None:
    for _ in range(50):
        idle = start()
        outcomes: list[object] = []
        gate = threading.Barrier(2)

        def move() -> None:
            gate.wait()
            try:
                outcomes.append(idle.observe("OBSERVED", SEEN))
            except StateUsed as error:
                outcomes.append(error)

        threads = [threading.Thread(target=move) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(isinstance(outcome, StateUsed) for outcome in outcomes) == [False, True]


def test_ids_and_clock_are_injected() -> None:
    class Ids:
        def __init__(self) -> None:
            self.number = 0

        def packet_id(self) -> str:
            self.number += 1
            return f"pkt_mine_{self.number}"

        def task_id(self) -> str:
            return "task_mine"

        def token_id(self) -> str:
            return "token_mine"

    sense = start(ids=Ids()).observe("OBSERVED", SEEN)
    assert '"pkt_mine_1"' in sense.lines[0]
    assert "2026-03-01T10:00:00Z" in sense.lines[0]


def test_a_clock_that_fails_is_reported_and_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[Any] = []
    monkeypatch.setattr("sys.unraisablehook", reported.append)

    def broken() -> str:
        raise RuntimeError("no time")

    idle = start(clock=broken, on_drop="leave")
    try:
        idle.observe("OBSERVED", SEEN)
    except IllegalMove:
        pass
    assert reported


def test_bad_arguments_name_what_is_wrong() -> None:
    with pytest.raises(TypeError, match="not both"):
        start().observe("OBSERVED", SEEN, data={"k": 1})
    with pytest.raises(TypeError, match="tool id"):
        type("Nameless", (omen.ReadTool,), {})
    with pytest.raises(ValueError, match="on_drop"):
        start(on_drop="explode")
    with pytest.raises(LogError, match="already begun"):
        name = start(on_drop="leave").observe("OBSERVED", SEEN).correlation_id
        Setup(name, envelope()).start()
    with pytest.raises(IllegalMove, match="stakes"):
        start(envelope(stakes={"impact": "HUGE"}))
    with pytest.raises(IllegalMove) as error:
        getattr(omen.Arbitration("a"), "feasible")
    assert error.value.code == "INV-006"
    with pytest.raises(IllegalMove, match="no option left") as error:
        omen.Arbitration("a").veto(lambda _: False)
    assert error.value.code == "INV-006"


def test_threads_that_share_a_used_value_do_not_wait_for_each_other() -> None:
    sent, (task,) = decided(on_drop="leave").execute(Get.read())
    task.cancelled()
    refused: list[int] = []

    def use() -> None:
        for _ in range(500):
            for again in (task.cancelled, lambda: task.task_id, lambda: sent.tasks()):
                try:
                    again()
                except StateUsed:
                    refused.append(1)

    threads = [threading.Thread(target=use, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert len(refused) == 4 * 500 * 2


def unfounded() -> Any:
    """Returns an envelope that makes a claim about the present without live evidence."""
    guess = Epistemics.of(status="INFERRED", freshness="OPERATIONAL", confidence=0.4, calibration="a guess")
    return envelope(epistemics=guess, evidence=Evidence.absent("nobody has looked yet"))


def test_a_claim_without_evidence_may_be_verified_and_not_acted_on() -> None:
    guess, model = unfounded(), start().observe("OBSERVED", SEEN).believe(belief())
    order: Any = ruling().to_act().under(guess)
    with pytest.raises(IllegalMove) as error:
        model.act(order)
    assert error.value.code == "INV-004"
    for make in (lambda: model.under(guess), lambda: start(guess)):
        with pytest.raises(IllegalMove) as error:
            make()
        assert error.value.code == "INV-004"
    loop = model.verify_first(ruling().under(guess))
    said = [found for found in findings(loop.lines) if found.get("code") == "INV-004"]
    assert [(found["severity"], found["packet_type"]) for found in said] == [("warning", "DecisionPacket")]


def test_evidence_of_each_type_is_a_reference_in_the_log() -> None:
    both = Evidence.memory_item("last week", "2026-02-22T10:00:00Z").and_tool_output(
        "config.get", "2026-03-01T09:59:30Z", reliability=0.9
    )
    line = start(envelope(evidence=both)).observe("OBSERVED", SEEN).lines[0]
    references = json.loads(line)["mcp"]["evidence"]["evidence_refs"]
    assert [reference["ref_type"] for reference in references] == ["memory_item", "tool_output"]
    assert references[1] == {
        "ref_type": "tool_output", "ref_id": "config.get", "timestamp": "2026-03-01T09:59:30Z", "reliability_score": 0.9
    }


def test_an_envelope_that_no_type_knows_is_judged_by_the_core() -> None:
    members = json.loads(envelope().to_json())
    model = start(Envelope.known_later(members)).observe("OBSERVED", SEEN).believe(belief())
    order = ruling().to_act()
    assert isinstance(model.decide("ACT", order, Envelope.known_later(members)), omen.DecideAct)
    members["epistemics"]["status"] = "INFERRED"
    members["evidence"] = {"evidence_refs": [], "evidence_absent_reason": "nobody has looked"}
    with pytest.raises(IllegalMove, match="INV-004"):
        start(Envelope.known_later(members))


def test_layer_1_overrides_inv_003_once_and_the_log_says_so() -> None:
    axes = Stakes.of(impact="HIGH", irreversibility="PARTIAL", uncertainty="HIGH", adversariality="BENIGN")
    high: Any = envelope(stakes=axes)
    signed = Layer1.assume().order("the database fails now")
    assert signed.reason == "the database fails now"
    model = start().observe("OBSERVED", SEEN).believe(belief())
    unsigned: Any = ruling().to_act().under(high)
    with pytest.raises(IllegalMove, match="INV-003"):
        model.act(unsigned)
    acting = model.act(ruling().to_act().layer1_override(signed).under(high))
    packet = json.loads(acting.lines[-1])
    assert packet["header"]["layer_source"] == 1
    assert "the database fails now" in packet["payload"]["decision_summary"]
    with pytest.raises(StateUsed, match="order of layer 1 was already used by `layer1_override`"):
        ruling().to_act().layer1_override(signed)


def test_an_order_of_layer_1_that_was_refused_can_be_used_later() -> None:
    signed: Any = Layer1.assume().order("it was checked")
    safe = start().halt("stop")
    handle: Any = start()._handle
    with pytest.raises(IllegalMove, match="not in safe mode"):
        handle.clear("SafeMode", signed)
    safe.clear(signed)
    with pytest.raises(StateUsed):
        signed.reason
    with pytest.raises(TypeError, match="assume"):
        Layer1()  # type: ignore[call-arg]


def test_a_revoked_token_is_not_spent() -> None:
    authorized, (permit,) = decided().authorize(SetScope, ttl_seconds=60, rationale="ticket")
    alert = Alert.warning("token_revocation", "the ticket was withdrawn").revoking(permit.token_id)
    revoked = authorized.alert(alert)
    assert json.loads(revoked.lines[-1])["payload"]["revoked_token_ids"] == [permit.token_id]
    with pytest.raises(IllegalMove) as error:
        revoked.execute(Set.modify({"k": 1}).with_permit(permit))
    assert error.value.code == "E4"
    assert "revoked" in error.value.message
