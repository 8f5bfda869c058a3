"""A check that type checkers do not make: values of an episode that are used twice, or dropped.

    python -m omen.lint FILE.py..

It follows each function in order, and joins branches. Uses that it cannot follow (attributes, containers, closures, a
second name for the same value) raise `StateUsed` at run time.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from omen import _core, _states, _values
from omen import episode as _episode

_STATES = [state for state in vars(_states).values() if isinstance(state, type) and issubclass(state, _episode.Episode)]
# Methods spend a state or a task, except for those in `_READS`; a permit or an order of layer 1 is spent by the call that takes it.
_READS = {"lines", "tasks", "moves", "correlation_id", "end", "live_tokens", "claim", "claim_any"}
_MOVES = {name for state in (*_STATES, _episode.Episode) for name in vars(state) if name[0] != "_" and name not in _READS}
_ENDS = {"success", "failure", "cancelled"} & set(vars(_core.Task))
_TAKES = {"with_permit", "layer1_override", "budget_override", "answered", "clear"} & (
    {*vars(_core.Directive), *vars(_core.Order), *vars(_values.Alert)} | _MOVES
)
_VALUES = {"Task", "Permit", "Layer1Order", "AnyEpisode"} & set(dir(_values) + dir(_states))
_CLASSES = {state.__name__ for state in _STATES} | _VALUES

# Each spent name, with the move that spent it and its line.
_Spent = dict[str, tuple[str, int]]


class _Function:
    """Names of one function that hold episodes, tasks or permits."""

    def __init__(self, file: str, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.file = file
        self.found: dict[str, None] = {}
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        self.tracked = {argument.arg for argument in arguments if _names(argument.annotation) & _CLASSES}

    def report(self, line: int, problem: str) -> None:
        """Adds a finding, but only once: loops are followed twice."""
        self.found[f"{self.file}:{line}: {problem}"] = None

    def spend(self, node: ast.expr, by: str, spent: _Spent) -> None:
        """Marks a name as spent, and reports a second use."""
        if not isinstance(node, ast.Name) or node.id not in self.tracked:
            return
        if node.id in spent:
            first, line = spent[node.id]
            problem = f"`{node.id}` was used by `{first}` in line {line}, and `{by}` cannot use it again"
            self.report(node.lineno, f"{problem}; continue with the value that `{first}` returned")
        spent[node.id] = (by, node.lineno)

    def expression(self, node: ast.AST | None, spent: _Spent) -> None:
        """Follows an expression, the innermost call first."""
        if node is None or isinstance(node, (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef)):
            return
        for child in ast.iter_child_nodes(node):
            self.expression(child, spent)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            if name in _MOVES or name in _ENDS:
                self.spend(node.func.value, name, spent)
            if name in _TAKES and node.args:
                self.spend(node.args[0], name, spent)

    def is_move(self, node: ast.AST | None) -> bool:
        """Returns whether an expression is a chain of moves that begins with a tracked name or a setup."""
        node = node.value if isinstance(node, ast.Await) else node
        if isinstance(node, ast.Subscript):
            return self.is_move(node.value)
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return False
        receiver = node.func.value
        if node.func.attr in ("start", "resume"):
            return "Setup" in _names(receiver)
        is_tracked = isinstance(receiver, ast.Name) and receiver.id in self.tracked
        return node.func.attr in _MOVES and (is_tracked or self.is_move(receiver))

    def assign(self, target: ast.expr, value: ast.expr | None, spent: _Spent) -> None:
        """Follows an assignment: a name that gets a new value is not spent."""
        self.expression(value, spent)
        is_move = self.is_move(value)
        for name in (node for node in ast.walk(target) if isinstance(node, ast.Name)):
            spent.pop(name.id, None)
            if is_move:
                self.tracked.add(name.id)

    def block(self, body: Sequence[ast.stmt], spent: _Spent) -> bool:
        """Follows statements, and returns whether they never reach their end."""
        return any([self.statement(statement, spent) for statement in _reached(body)])

    def statement(self, node: ast.stmt, spent: _Spent) -> bool:
        """Follows a statement."""
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self.assign(target, value, spent)
            case ast.AnnAssign(target=target, value=value):
                self.assign(target, value, spent)
            case ast.If(test=test, body=body, orelse=other):
                self.expression(test, spent)
                return self.branches([body, other], spent)
            case ast.Match(subject=subject, cases=cases):
                self.expression(subject, spent)
                return self.branches([case.body for case in cases] + [[]], spent)
            case ast.For() | ast.AsyncFor() | ast.While():
                self.loop(node, spent)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                for item in items:
                    self.assign(item.optional_vars or ast.Tuple([]), item.context_expr, spent)
                return self.block(body, spent)
            case ast.Try(body=body, handlers=handlers, orelse=other, finalbody=last):
                ends = self.branches([[*body, *other], *(handler.body for handler in handlers)], spent)
                return self.block(last, spent) or ends
            case ast.Expr(value=value):
                self.expression(value, spent)
                call = value.value if isinstance(value, ast.Await) else value
                if self.is_move(call) and isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
                    if call.func.attr != "close":
                        problem = f"the episode that `{call.func.attr}` returns is dropped; name it, and close it"
                        self.report(value.lineno, problem)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                pass
            case _:
                for child in ast.iter_child_nodes(node):
                    self.expression(child, spent)
        return isinstance(node, (ast.Return, ast.Raise, ast.Break, ast.Continue))

    def loop(self, node: ast.For | ast.AsyncFor | ast.While, spent: _Spent) -> None:
        """Follows a loop twice: a name spent in one iteration is still spent in the next."""
        for _ in range(2):
            if isinstance(node, ast.While):
                self.expression(node.test, spent)
            else:
                self.assign(node.target, node.iter, spent)
            self.block(node.body, spent)
        self.block(node.orelse, spent)

    def branches(self, bodies: Sequence[Sequence[ast.stmt]], spent: _Spent) -> bool:
        """Follows branches, one of which runs, and returns whether none reaches its end."""
        ends: list[_Spent] = []
        for body in bodies:
            own = dict(spent)
            if not self.block(body, own):
                ends.append(own)
        for own in ends:
            spent.update(own)
        return not ends


def _reached(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Returns the statements up to the first that leaves the block."""
    for statement in body:
        yield statement
        if isinstance(statement, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
            return


def _names(node: ast.AST | None) -> set[str]:
    """Returns the names in an expression, also in the text of an annotation."""
    nodes = list(ast.walk(node)) if node is not None else []
    names = {found.id for found in nodes if isinstance(found, ast.Name)}
    return names | {found.attr for found in nodes if isinstance(found, ast.Attribute)}


def check(text: str, file: str) -> list[str]:
    """Returns the findings of a program: values that are used twice, and episodes that are dropped."""
    tree = ast.parse(text, file)
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            function = _Function(file, node)
            function.block(node.body, {})
            found += function.found
    return found


def main(files: Sequence[str]) -> int:
    """Checks files, and returns the exit code of the command."""
    if not files:
        print("usage: python -m omen.lint FILE.py..", file=sys.stderr)
        return 2
    found: list[str] = []
    for file in files:
        try:
            found += check(Path(file).read_text(encoding="utf-8"), file)
        except (OSError, SyntaxError, ValueError) as error:
            print(f"cannot check `{file}`: {error}", file=sys.stderr)
            return 3
    print("".join(f"{finding}\n" for finding in found), end="")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
