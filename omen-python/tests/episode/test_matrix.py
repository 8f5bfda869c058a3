"""The matrix: each illegal call is a type error on its line, and no other line has one.

A cell is a call in a state, with arguments of the right types. The calls and their codes are those of the model that
rustc's errors are made from; the other groups follow from the rules on arguments.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from pathlib import Path

import pytest
from episode_world import calls
from checkers import OPTIONAL, REQUIRED, by_line, report

from omen import episode, packets
from omen.episode import Stakes

HEAD = '''
from __future__ import annotations
from typing import Awaitable, Callable, Literal
from omen.episode import (NAMES)

class A(WriteTool, name="a"): ...
class B(WriteTool, name="b"): ...
class ScopeA(Scope[A, Modify]): ...

READ = Order[Literal["READ"]]
WRITE = Order[Literal["WRITE"]]
AnyOrders = list[Order[Literal["READ"]]]

'''

PARAMETERS = (
    "p: Payload, o: OrderUnder, r: RulingUnder[Deferrable], a: ActOrder[AllVerified], e: AnyEnvelope, plan: Plan, read: READ, write: WRITE, "
    "done: Settled[Proven], sign: Layer1Order, settles: Callable[[Task], Settled[Proven]], tool: Callable[[Task], int], later: Callable[[Task], Awaitable[int]]"
)
NAMED = 'uses=1, ttl_seconds=1, rationale="r"'
ARGUMENTS = {
    "observe": '"OBSERVED", p', "act": "o", "to_escalate": "r", "defer": "r", "cancel": "r", "verify_first": "r",
    "verify": "plan", "check": "read, settles", "check_with": "read, tool", "check_with_async": "read, later",
    "authorize": 'ScopeA, ttl_seconds=1, rationale="r"', "authorize_named": f'["a"], ["write"], {NAMED}',
    "execute": "read", "settle": "done", "halt": '"r"', "clear": "sign", "close": "", "all_settled": "",
    "decide": '"ACT", a, e', "execute_with": "read, tool", "execute_with_async": "read, later",
    "execute_each": "[read], tool", "execute_each_async": "[read], later",
}
SHOWN = {
    "Verify": "Verify[Proven, Seen]", "OpenVerify": "OpenVerify1[Planned, Seen]", "OpenExecute": "OpenExecute1",
    "ManyVerify": "ManyVerify[Planned, Seen]",
}
AXES = {
    "impact": ["LOW", "MEDIUM", "HIGH", "CRITICAL"], "irreversibility": ["REVERSIBLE", "PARTIAL", "IRREVERSIBLE"],
    "uncertainty": ["LOW", "MEDIUM", "HIGH"], "adversariality": ["BENIGN", "CONTESTED", "HOSTILE"],
}


class Matrix:
    """File with a cell on each of some lines: its group, and the code of its error if it is illegal."""

    def __init__(self) -> None:
        self.lines = HEAD.strip().splitlines()
        self.cells: dict[int, tuple[str, str]] = {}

    def function(self, parameters: str) -> None:
        """Begins a function, which contains the calls that follow."""
        self.lines += ["", f"async def f{len(self.lines)}({parameters}) -> None:"]

    def cell(self, group: str, call: str, code: str = "") -> None:
        """Adds a call."""
        self.lines.append(f"    _ = {call}")
        self.cells[len(self.lines)] = (group, code)


def arguments(state: str, method: str) -> str:
    """Returns arguments of the right types for a move in a state."""
    text = ARGUMENTS.get(method, "p")
    if method == "settle" and state.startswith("Many"):
        return "[done]"
    return text.replace("read", "write") if state == "Authorize" and method.startswith("execute") else text


def states(matrix: Matrix) -> None:
    """Every move in every state."""
    for state, moves in calls().items():
        matrix.function(f"ep: {SHOWN.get(state, state)}, {PARAMETERS}")
        for method, refused in moves.items():
            code = refused["code"] if refused else ""
            matrix.cell("state and move", f"ep.{method}({arguments(state, method)})", code)


def unions(matrix: Matrix) -> None:
    """A move on one of two states is legal if it is legal in both."""
    plain = {state: moves for state, moves in calls().items() if state not in SHOWN}
    pairs = list(itertools.combinations(plain, 2))
    for number, (one, two) in enumerate(pairs):
        method = list(plain[one])[number % len(plain[one])]
        same = arguments(one, method)
        if same != arguments(two, method):
            continue
        refused = plain[one][method] or plain[two][method]
        matrix.function(f"ep: {one} | {two}, {PARAMETERS}")
        matrix.cell("union of two states", f"ep.{method}({same})", refused["code"] if refused else "")


def loops(matrix: Matrix) -> None:
    """Progress and observations of a verification loop."""
    for progress, seen in itertools.product(["Unplanned", "Planned", "Attempted", "Proven"], ["Unseen", "Seen"]):
        matrix.function(f"ep: Verify[{progress}, {seen}], {PARAMETERS}")
        is_planned, group = progress != "Unplanned", "verification loop"
        matrix.cell(group, "ep.believe(p)", "" if (progress, seen) == ("Proven", "Seen") else "E3")
        matrix.cell(group, "ep.verify(plan).check(read, settles)")
        for move in ("check(read, settles)", "check_with(read, tool)", "check_with_async(read, later)"):
            matrix.cell(group, f"ep.{move}", "" if is_planned else "E3")
        proven = "" if is_planned and seen == "Seen" else "E3"
        matrix.cell(group, "ep.check(read, lambda task: task.success(1)).believe(p)", proven)
        matrix.cell(group, 'ep.check(read, lambda task: task.failure("no")).believe(p)', "E3")
        matrix.cell(group, 'ep.verify(plan).check(read, settles).observe("OBSERVED", p).believe(p)')
        unseen = "" if seen == "Seen" else "E3"
        matrix.cell(group, 'ep.verify(plan).check(read, settles).observe("DERIVED", p).believe(p)', unseen)
        matrix.cell(group, "ep.execute(write)[0]", "E3")
        matrix.cell(group, "ep.complete(p)[1]")


def bounds(matrix: Matrix) -> None:
    """Bounds of a decision to act: stakes, tier, tools, assumptions."""
    tools = ["tools_ok", "tools_partial", "tools_down"]
    kinds = ["AllVerified", "SomeUnverified", "Overridden"]
    for level, tier, tool, kind in itertools.product(AXES["impact"], ["SUBPAR", "PAR", "SUPERB"], tools, kinds):
        high = level in ("HIGH", "CRITICAL")
        code = ""
        if tier == "SUBPAR":
            code = "INV-002"
        elif high and tool == "tools_down":
            code = "INV-010"
        elif high and kind != "Overridden" and (tier == "PAR" or kind == "SomeUnverified"):
            code = "INV-003"
        known = f'Envelope[Literal["{level}"], Literal["{tier}"], Literal["{tool}"]]'
        matrix.function(f"ep: Model, order: ActOrder[{kind}], ruling: Ruling, known: {known}")
        matrix.cell("bounds of acting", "ep.act(order.under(known))", code)
        matrix.cell("bounds of deferring", "ep.defer(ruling.under(known))", "INV-010" if high and tool == "tools_down" else "")
        matrix.cell("bounds of other decisions", "ep.cancel(ruling.under(known))")


def evidence(matrix: Matrix) -> None:
    """Claims about the present need live evidence to begin an episode and to act, as the rule itself says."""
    statuses, classes = (list(values) for values in (packets.EpistemicStatus, packets.FreshnessClass))
    sure, lasting = ("OBSERVED", "DERIVED", "REMEMBERED"), ("STRATEGIC", "ARCHIVAL")
    kinds = {str(kind): kind in ("tool_output", "user_observation") for kind in packets.RefType} | {"absent": False}
    matrix.function("stakes: Stakes[Literal['LOW']], quality: Quality[Literal['PAR']], routing: Routing[Literal['tools_ok']], "
                    "ep: Model, ruling: Ruling, order: ActOrder[AllVerified]")
    for number, (status, freshness, kind) in enumerate(itertools.product(statuses, classes, kinds)):
        arguments = '"r"' if kind == "absent" else '"r", "2026-03-01T10:00:00Z"'
        matrix.lines.append(
            f'    e{number} = Epistemics.of(status="{status}", freshness="{freshness}", confidence=0.5, calibration="c")')
        matrix.lines.append(f"    m{number} = Envelope(intent={{}}, stakes=stakes, quality=quality, budgets={{}}, "
                            f"epistemics=e{number}, evidence=Evidence.{kind}({arguments}), routing=routing)")
        code = "" if status in sure or freshness in lasting or kinds[kind] else "INV-004"
        matrix.cell("evidence", f'Setup("c", m{number})', code)
        matrix.cell("evidence", f"ep.act(order.under(m{number}))", code)
        # A decision that seeks certainty is legal without evidence.
        matrix.cell("evidence", f"ep.verify_first(ruling.under(m{number}))")
    for state, moves in calls().items():
        if moves["observe"] is None:
            matrix.function(f"ep: {SHOWN.get(state, state)}, {PARAMETERS}")
            for status in statuses:
                matrix.cell("evidence", f'ep.observe("{status}", p).tasks()', "" if status in sure else "INV-004")


def forgeries(matrix: Matrix) -> None:
    """Values that only the package creates."""
    matrix.function("")
    generic = ["ActOrder", "Directive", "Epistemics", "Evidence", "Order", "Permit", "Quality", "RulingUnder", "Settled", "Stakes"]
    plain = ["Alert", "Closed", "Layer1", "Layer1Order", "LiveToken", "OrderUnder", "Proof", "Ruling", "Task", "Verified", *calls()]
    for name in plain + [f"{name}[str, str]" if name in ("Directive", "Permit") else f"{name}[str]" for name in generic]:
        parameters = "[Proven, Seen]" if "Verify" in name else ""
        number = "1" if name.startswith("Open") else ""
        matrix.cell("forgeries", f"{name}{number}{parameters}()", "own words")


def stakes(matrix: Matrix) -> None:
    """Level of the stakes, as the rule itself says."""
    wrong = {"LOW": "MEDIUM", "MEDIUM": "HIGH", "HIGH": "CRITICAL", "CRITICAL": "LOW"}
    for point in itertools.product(*AXES.values()):
        axes = dict(zip(AXES, point))
        level: str = Stakes.of(**axes).level  # type: ignore[call-overload]
        given = ", ".join(f'{axis}="{value}"' for axis, value in axes.items())
        matrix.function("")
        for stated, code in ((level, ""), (wrong[level], "own words")):
            matrix.lines.append(f'    _stakes{len(matrix.lines)}: Stakes[Literal["{stated}"]] = Stakes.of({given})')
            matrix.cells[len(matrix.lines)] = ("level of the stakes", code)


def scopes(matrix: Matrix) -> None:
    """Permits of a scope match its tools and operations, and are counted."""
    for tools, operations in itertools.product(["A", "B", "A | B"], ["Modify", "Delete", "Modify | Delete"]):
        name = f"S{len(matrix.lines)}"
        matrix.lines += ["", f"class {name}(Scope[{tools}, {operations}]): ..."]
        matrix.function("ep: DecideAct")
        matrix.lines.append(f'    _, (one, two) = ep.authorize({name}, ttl_seconds=1, rationale="r", uses=2)')
        matrix.lines.append("    _ = (one, two)")
        for tool, operation in itertools.product("AB", ["modify", "delete"]):
            fits = tool in tools.split(" | ") and operation.capitalize() in operations.split(" | ")
            matrix.cell("scopes", f"{tool}.{operation}().with_permit(one)", "" if fits else "own words")
    for uses in range(1, 9):
        matrix.function("ep: DecideAct")
        for taken in (uses - 1, uses, uses + 1):
            if taken:
                names = ", ".join(f"_p{n}" for n in range(taken))
                matrix.lines.append(f'    _, ({names},) = ep.authorize(ScopeA, ttl_seconds=1, rationale="r", uses={uses})')
                matrix.cells[len(matrix.lines)] = ("uses of a token", "" if taken == uses else "own words")
    matrix.function("ep: DecideAct")
    matrix.lines.append('    _, _ = ep.authorize(ScopeA, ttl_seconds=1, rationale="r", uses=0)')
    matrix.cells[len(matrix.lines)] = ("uses of a token", "INV-007")


def resumption(matrix: Matrix) -> None:
    """Claims of remaining uses, and orders of layer 1, in every state."""
    for state, moves in calls().items():
        matrix.function(f"ep: {SHOWN.get(state, state)}, {PARAMETERS}")
        for claim in ("claim_any(", 'claim(ep.live_tokens()[0].token_id, '):
            for uses, taken in itertools.product((1, 2, 8), repeat=2):
                names = ", ".join(f"_p{n}" for n in range(taken))
                matrix.lines.append(f"    ({names},) = ep.{claim}ScopeA, uses={uses})")
                matrix.cells[len(matrix.lines)] = ("claims", "" if taken == uses else "own words")
            matrix.cell("claims", f"A.modify().with_permit(ep.{claim}ScopeA)[0])")
            matrix.cell("claims", f"B.modify().with_permit(ep.{claim}ScopeA)[0])", "own words")
            matrix.cell("claims", f"ep.{claim}ScopeA, uses=0)[0]", "own words")
            matrix.cell("claims", f"ep.{claim}ScopeA, uses=len(ep.lines))[8]")
        refused = moves["answered"]
        matrix.cell("orders of layer 1", "ep.answered(sign)", refused["code"] if refused else "")
        matrix.cell("orders of layer 1", "ep.alert(Alert.budget_override(sign))")
        matrix.cell("orders of layer 1", "ep.alert(sign)", "own words")


def orders(matrix: Matrix) -> None:
    """Directives by their class, with and without a permit; results by their number."""
    matrix.function(f"act: DecideAct, authorized: Authorize, execute: Execute, {PARAMETERS}")
    for call, code in (
        ("act.execute(read)[0]", ""), ("act.execute(read, read)[0]", ""), ("act.execute(write)[0]", "FSM"),
        ("act.execute(A.modify())[0]", "FSM"), ("authorized.execute(write)[0]", ""),
        ("authorized.execute(read)[0]", "FSM"), ("authorized.execute(A.modify())[0]", "INV-007"),
        ("execute.execute(read, write)[0]", ""), ("execute.execute(write, A.modify())[0]", "INV-007"),
    ):
        matrix.cell("orders", call, code)
    for count in range(1, 9):
        for kind, to in ((f"OpenExecute{count}", "review(p)"), (f"OpenVerify{count}[Attempted, Seen]", "believe(p)")):
            matrix.function(f"ep: {kind}, {PARAMETERS}")
            for results in (count - 1, count, count + 1):
                code = "" if results == count else "own words"
                matrix.cell("results", f"ep.settle({', '.join(['done'] * results)}).{to}", code)


def matrix() -> Matrix:
    """Returns all cells."""
    made = Matrix()
    for group in (states, unions, loops, bounds, evidence, forgeries, stakes, scopes, resumption, orders):
        group(made)
    used = set(re.findall(r"\w+", "\n".join(made.lines)))
    made.lines = [line.replace("NAMES", ", ".join(sorted(name for name in used & set(dir(episode)) if len(name) > 1 and name[0].isupper()))) for line in made.lines]
    return made


@pytest.mark.parametrize("checker", REQUIRED + OPTIONAL)
def test_each_illegal_call_is_an_error_on_its_line_and_no_other(checker: str, tmp_path: Path) -> None:
    made = matrix()
    (tmp_path / "cells.py").write_text("\n".join(made.lines) + "\n")
    text = report(checker, tmp_path)
    if text is None:
        assert checker in OPTIONAL, f"{checker} is required: install it beside {checker!r}"
        pytest.skip(f"{checker} is not installed")
    found = by_line(text).get("cells.py", {})
    counts: dict[str, Counter[str]] = {}
    wrong = []
    for line, (group, code) in made.cells.items():
        count = counts.setdefault(group, Counter())
        count["cells"] += 1
        count["illegal"] += bool(code)
        shown = f"line {line}: {made.lines[line - 1].strip()}"
        if code and line not in found:
            wrong.append(f"missed {code}, {shown}")
        if not code and line in found:
            wrong.append(f"false alarm, {shown}: {found[line][:300]}")
        if code and code in found.get(line, "").replace("_", "-"):
            count["with the code"] += 1
    wrong += [f"outside of the cells, line {line}: {text[:300]}" for line, text in found.items() if line not in made.cells]
    for group, count in counts.items():
        print(f"{checker}: {group}: {', '.join(f'{number} {name}' for name, number in count.items())}")
    moves = counts["state and move"]
    assert (moves["cells"], moves["illegal"]) == (558, 440)
    if checker in REQUIRED:
        assert wrong == []
        for group in ("state and move", "verification loop", "bounds of acting", "bounds of deferring", "evidence", "orders"):
            assert counts[group]["with the code"] == counts[group]["illegal"], group
    else:
        print(f"{checker}: {len(wrong)} differ", *wrong[:20], sep="\n")
