"""The lint finds plain cases of values that are used twice or dropped, and accepts legal programs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from episode_world import ROOT

from omen import lint

CASES = '''
def twice(idle: Idle) -> None:
    a = idle.observe("OBSERVED", SEEN)
    b = idle.observe("OBSERVED", SEEN)  # found

def in_a_loop(review: omen.Review) -> None:
    for _ in range(2):
        sense = review.observe("OBSERVED", SEEN)  # found

def a_name_in_the_loop(model: Model) -> Model:
    while stale(model):
        model = model.believe(BELIEF)
    return model

def after_a_branch(model: Model, stop: bool) -> Model:
    if stop:
        model.halt("stop")  # found
    return model.alert(NOTE)  # found

def both_branches_leave(model: Model, stop: bool) -> SafeMode | Model:
    if stop:
        return model.halt("stop")
    return model.alert(NOTE)

def one_task_twice(task: Task) -> list[object]:
    return [task.success(1), task.cancelled()]  # found

def one_permit_twice(ep: DecideAct) -> None:
    authorized, (permit,) = ep.authorize(Scope, ttl_seconds=1, rationale="r")
    one = Set.modify().with_permit(permit)
    two = Drop.delete().with_permit(permit)  # found
    sent, tasks = authorized.execute(one, two)

def one_order_of_layer_1_twice(signed: Layer1Order, safe: SafeMode, order: ActOrder[AllVerified]) -> Review:
    signed_order = order.layer1_override(signed)
    return safe.clear(signed)  # found

def an_order_given_to_an_alert(signed: Layer1Order, asked: Escalated) -> DecideUndecided:
    alert = Alert.budget_override(signed)
    return asked.answered(signed)  # found

def tokens_are_read(ep: Execute) -> Review:
    print(ep.live_tokens())
    (permit,) = ep.claim_any(Scope)
    done, value = ep.execute_with(Set.modify().with_permit(permit), tool)
    return done.review(BELIEF)

async def with_a_setup() -> None:
    with Setup("corr_a", mcp).start() as idle:
        sense = idle.observe("OBSERVED", SEEN)
        sense.believe(BELIEF)  # found
        closed = sense.halt("no")  # found

def handled(ep: DecideAct) -> SafeMode | Execute:
    try:
        done, value = ep.execute_with(order, tool)
    except IllegalMove:
        return ep.halt("refused")
    return done

def matched(ep: AnyEpisode) -> object:
    match ep:
        case Idle():
            return ep.observe("OBSERVED", SEEN)
        case Review():
            return ep.close()
    return ep.halt("other")

def other_libraries(cursor: Cursor, file: IO[str]) -> None:
    cursor.execute("a")
    cursor.execute("b")
    file.close()
    file.close()

def by_another_name(idle: Idle) -> None:
    other = idle
    a = idle.observe("OBSERVED", SEEN)
    b = other.observe("OBSERVED", SEEN)  # not found
'''


def test_the_plain_cases_are_found_and_nothing_else() -> None:
    expected = [number for number, line in enumerate(CASES.splitlines(), 1) if line.endswith("  # found")]
    found = lint.check(CASES, "cases.py")
    lines = [int(match[1]) for finding in found if (match := re.match(r"cases\.py:(\d+): ", finding))]
    assert sorted(set(lines)) == expected
    assert "`idle` was used by `observe` in line 3, and `observe` cannot use it again" in found[0]


def test_legal_programs_have_no_finding() -> None:
    files = [*(ROOT / "omen-python/examples").glob("*.py"), Path(__file__).parent / "test_walks.py"]
    assert lint.main([str(file) for file in files]) == 0


def test_exit_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "agent.py"
    file.write_text(CASES)
    assert lint.main([str(file)]) == 1
    assert "agent.py:4: `idle`" in capsys.readouterr().out
    assert lint.main([]) == 2
    file.write_text("def (")
    assert lint.main([str(file)]) == 3
    assert "cannot check" in capsys.readouterr().err
