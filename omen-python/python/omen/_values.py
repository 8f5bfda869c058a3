"""Values that the moves of an episode take and return. Their types are in the stub; the core holds the rules."""

from __future__ import annotations

import json
from types import UnionType
from typing import Any, Generic, TypeVar, Union, get_args, get_origin

from omen import _core
from omen._errors import OmenError

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")

# Types that only the stub describes.
Json = SupportsJson = Payload = EpistemicStatus = Outcome = OperationType = SafetyClass = Level = Tier = ToolsState = Any
TaskClass = VerificationRequirement = Policy = AnyEnvelope = Any

Directive = Order = _core.Directive
Permit = _core.Permit
Task = _core.Task
Settled = _core.Settled
Verified = _core.Verified


def _to_plain(value):
    """Returns a packet class inside of a dictionary as plain values."""
    if hasattr(value, "to_json"):
        return json.loads(value.to_json())
    raise TypeError(f"a {type(value).__name__} is not JSON; use plain values or packet classes")


class IllegalMove(OmenError):
    """Move that the protocol refuses. The episode is unchanged."""

    def __init__(self, message, *, move, state, code, fix):
        super().__init__(message, code=code, help=fix or None)
        self.move, self.state, self.fix = move, state, fix

    def __str__(self):
        text = f"{self.code}: cannot call `{self.move}` in `{self.state}`: {self.message}"
        return f"{text}\n  fix: {self.fix}" if self.fix else text


class StateUsed(OmenError):
    """Value that was used before: each state, task and permit is used once."""


class LogError(OmenError):
    """Log that cannot be written, opened or resumed."""


class ToolFailed(OmenError):
    """Tool that raised an exception. Its FAILURE is in the log."""

    def __init__(self, message, episode):
        super().__init__(message)
        self.episode = episode


class _Members:
    """Part of an envelope."""

    def __init__(self, members):
        self._members = members

    def to_json(self):
        return json.dumps(self._members, default=_to_plain)


class Stakes(_Members, Generic[A]):
    """Stakes, with the level that their axes justify."""

    @staticmethod
    def of(*, impact, irreversibility, uncertainty, adversariality):
        level = _core.stakes_level(impact, irreversibility, uncertainty, adversariality)
        return Stakes({
            "impact": impact, "irreversibility": irreversibility, "uncertainty": uncertainty,
            "adversariality": adversariality, "stakes_level": level,
        })

    @property
    def level(self):
        return self._members["stakes_level"]


class Quality(_Members, Generic[A]):
    """Quality of the work: its tier, and the definition of done."""

    @staticmethod
    def _of(tier, done, checks, satisficing, verification):
        return Quality({
            "quality_tier": tier, "satisficing_mode": satisficing, "verification_requirement": verification,
            "definition_of_done": {"text": done, "checks": list(checks)},
        })

    @staticmethod
    def subpar(done, checks, *, satisficing=False, verification="OPTIONAL"):
        return Quality._of("SUBPAR", done, checks, satisficing, verification)

    @staticmethod
    def par(done, checks, *, satisficing=False, verification="OPTIONAL"):
        return Quality._of("PAR", done, checks, satisficing, verification)

    @staticmethod
    def superb(done, checks, *, satisficing=False, verification="OPTIONAL"):
        return Quality._of("SUPERB", done, checks, satisficing, verification)


class Routing(_Members, Generic[A]):
    """Task class, and whether the tools work."""

    def __init__(self, task_class, tools_state):
        super().__init__({"task_class": task_class, "tools_state": tools_state})


class Envelope(_Members, Generic[A, B, C]):
    """Envelope of packets: stakes, quality and tools state are part of its type."""

    def __init__(self, *, intent, stakes, quality, budgets, epistemics, evidence, routing):
        super().__init__({
            "intent": intent, "stakes": stakes, "quality": quality, "budgets": budgets, "epistemics": epistemics,
            "evidence": evidence, "routing": routing,
        })


class _Stage:
    """Stage of an arbitration."""

    def __init__(self, core, options):
        self._core, self._options = core, options

    def _keep(self, stage, name, keep):
        kept = [option for option in self._options if keep(option)]
        return stage(self._core.keep(name, kept), kept)

    def __getattr__(self, name):
        if name in ("veto", "feasible", "tradeoff"):
            message = f"`{name}` is not the next stage after `{type(self).__name__}`"
            fix = "go through the stages in order: `.veto(..).feasible(..).tradeoff(..)`"
            raise IllegalMove(message, move=name, state=type(self).__name__, code="INV-006", fix=fix)
        raise AttributeError(name)


class FeasibleOptions(_Stage):
    """Options that budgets and tools allow, before stage 3 (INV-006)."""

    def tradeoff(self, policy, rationale):
        return Ruling(self._core.tradeoff(policy, rationale), self._options[0])


class VettedOptions(_Stage):
    """Options that the constitution allows, before stage 2 (INV-006)."""

    def feasible(self, fits):
        return self._keep(FeasibleOptions, "feasible", fits)


class Arbitration(_Stage):
    """Options of a decision, before stage 1 (INV-006)."""

    def __init__(self, *options):
        super().__init__(_core.Arbitration(list(options)), options)

    def veto(self, allowed):
        return self._keep(VettedOptions, "veto", allowed)


class Deferrable:
    """Marker of a ruling whose envelope allows deferring."""


class AllVerified:
    """Marker of an order whose assumptions are all verified."""


class SomeUnverified:
    """Marker of an order with an assumption that was not verified."""


class _Under:
    """Decision with its envelope."""

    def __init__(self, core, envelope):
        self._core, self._envelope = core, envelope


class RulingUnder(_Under, Generic[A]):
    """Ruling with the envelope of its decision."""


class OrderUnder(_Under):
    """Order to act with an envelope that allows it."""


class Ruling:
    """Result of an arbitration. It allows one decision."""

    def __init__(self, core, chosen):
        self._core, self.chosen = core, chosen

    def to_act(self):
        return ActOrder(self._core.to_act())

    def under(self, envelope):
        return RulingUnder(self._core, envelope)


class ActOrder(Generic[A]):
    """Order to act on a ruling. It allows one decision."""

    def __init__(self, core):
        self._core = core

    def relies_on(self, verified):
        return ActOrder(self._core.relies_on(verified))

    def assumes(self, assumption):
        return ActOrder(self._core.assumes(assumption))

    def under(self, envelope):
        return OrderUnder(self._core, envelope)


class Target(_Members):
    """Assumption that a verification loop is to verify."""

    def __init__(self, assumption, success_criteria, tool):
        super().__init__({
            "assumption": assumption, "method": "tool", "success_criteria": success_criteria, "tool_id": tool._name,
        })
        self.assumption = assumption


class Plan(_Members):
    """Plan of a verification loop."""

    def __init__(self, first, /, *more, max_tool_calls=None, time_budget_seconds=None):
        members = {
            "targets": [first, *more], "max_tool_calls": max_tool_calls, "time_budget_seconds": time_budget_seconds,
        }
        super().__init__({name: value for name, value in members.items() if value is not None})


class Proof:
    """Proof that a verification loop is complete."""

    def __init__(self, core):
        self._core = core

    def verifies(self, target):
        return self._core.verifies(target.assumption)


class Read:
    """Operation that reads."""


class Write:
    """Operation that writes."""


class Modify:
    """Operation that modifies."""


class Delete:
    """Operation that deletes."""


class Tool:
    """Tool of a class; derive from `ReadTool`, `WriteTool` or `MixedTool`."""

    _name = ""
    _class = ""

    def __init_subclass__(cls, *, name=None, safety=None):
        super().__init_subclass__()
        cls._class = safety or cls._class
        if name is None and safety is None:
            raise TypeError(f"`{cls.__name__}` has no tool id; write `class {cls.__name__}(.., name=\"config.get\")`")
        cls._name = name or ""

    @classmethod
    def _call(cls, params, timeout_seconds):
        return _core.Directive(cls._name, cls._class, params, timeout_seconds)


def _operation(params_name):
    def call(cls, params=None, *, timeout_seconds=None):
        return cls._call(params, timeout_seconds)

    call.__name__ = params_name
    call.__doc__ = f"Returns a call of the tool for the operation `{params_name}`."
    return classmethod(call)


class ReadTool(Tool, safety="READ"):
    """Tool that reads."""

    read = _operation("read")


class WriteTool(Tool, safety="WRITE"):
    """Tool that writes."""

    write = _operation("write")
    modify = _operation("modify")
    delete = _operation("delete")


class MixedTool(Tool, safety="MIXED"):
    """Tool that reads and writes."""

    read = _operation("read")
    write = _operation("write")
    modify = _operation("modify")
    delete = _operation("delete")


class Scope(Generic[A, B]):
    """Tools and operations that a token allows: `class RaisePool(Scope[ConfigSet, Modify])`."""

    @classmethod
    def _lists(cls):
        for base in getattr(cls, "__orig_bases__", ()):
            if get_origin(base) is Scope:
                tools, operations = (_members(argument) for argument in get_args(base))
                return [tool._name for tool in tools], [operation.__name__.lower() for operation in operations]
        raise TypeError(f"`{cls.__name__}` lists no tools; derive it from `Scope[Tool, Operation]`")


def _members(argument):
    return get_args(argument) if get_origin(argument) in (Union, UnionType) else (argument,)


class Planned:
    """Loop with a plan, in which no directive was sent."""


class Attempted:
    """Loop in which no directive has succeeded."""


class Proven:
    """Loop in which a directive has succeeded."""
