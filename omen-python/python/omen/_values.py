"""Values that the moves of an episode take and return. Their types are in the stub; the core enforces the rules."""

# The values of episodes use each other's private members.
# pyright: reportPrivateUsage=false
from __future__ import annotations

import json
from types import UnionType
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, Union, get_args, get_origin

from omen import _core
from omen._errors import OmenError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from typing_extensions import Self

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
S = TypeVar("S", bound="_Stage")

# Types that only the stub defines.
Json = SupportsJson = Payload = EpistemicStatus = Outcome = OperationType = SafetyClass = Level = Tier = ToolsState = Any
TaskClass = VerificationRequirement = Policy = AnyEnvelope = AskingEnvelope = SureStatus = FreshnessClass = AlertType = Any

Directive = Order = _core.Directive
Permit = _core.Permit
LiveToken = _core.LiveToken
Task = _core.Task
Settled = _core.Settled
Layer1Order = _core.Layer1Order
Verified = _core.Verified


def _to_plain(value: Any) -> Any:
    """Returns a packet object inside a dictionary as plain values."""
    if hasattr(value, "to_json"):
        return json.loads(value.to_json())
    raise TypeError(f"a {type(value).__name__} is not JSON; use plain values or packet classes")


class IllegalMove(OmenError):
    """Move that the protocol refuses. The episode is unchanged."""

    def __init__(self, message: str, *, move: str, state: str, code: str, fix: str) -> None:
        super().__init__(message, code=code, help=fix or None)
        self.move, self.state, self.fix = move, state, fix

    def __str__(self) -> str:
        text = f"{self.code}: cannot call `{self.move}` in `{self.state}`: {self.message}"
        return f"{text}\n  fix: {self.fix}" if self.fix else text


class StateUsed(OmenError):
    """Value that was already used: each state, task and permit can be used only once."""


class LogError(OmenError):
    """Log that cannot be written, opened or resumed."""


class ToolFailed(OmenError):
    """Tool that raised an exception. Its FAILURE is in the log."""

    def __init__(self, message: str, episode: Any) -> None:
        super().__init__(message)
        self.episode = episode


class _Members:
    """Part of an envelope."""

    def __init__(self, members: dict[str, Any]) -> None:
        self._members = members

    def to_json(self) -> str:
        return json.dumps(self._members, default=_to_plain)


class Stakes(_Members, Generic[A]):
    """Stakes, with the level that their axes justify."""

    @staticmethod
    def of(*, impact: str, irreversibility: str, uncertainty: str, adversariality: str) -> Stakes[Any]:
        level = _core.stakes_level(impact, irreversibility, uncertainty, adversariality)
        return Stakes({
            "impact": impact, "irreversibility": irreversibility, "uncertainty": uncertainty,
            "adversariality": adversariality, "stakes_level": level,
        })

    @property
    def level(self) -> str:
        return str(self._members["stakes_level"])


class Quality(_Members, Generic[A]):
    """Quality of the work: its tier, and the definition of done."""

    @staticmethod
    def _of(tier: str, done: str, checks: Iterable[str], satisficing: bool, verification: str) -> Quality[Any]:
        return Quality({
            "quality_tier": tier, "satisficing_mode": satisficing, "verification_requirement": verification,
            "definition_of_done": {"text": done, "checks": list(checks)},
        })

    @staticmethod
    def subpar(
        done: str, checks: Iterable[str], *, satisficing: bool = False, verification: str = "OPTIONAL"
    ) -> Quality[Any]:
        return Quality._of("SUBPAR", done, checks, satisficing, verification)

    @staticmethod
    def par(
        done: str, checks: Iterable[str], *, satisficing: bool = False, verification: str = "OPTIONAL"
    ) -> Quality[Any]:
        return Quality._of("PAR", done, checks, satisficing, verification)

    @staticmethod
    def superb(
        done: str, checks: Iterable[str], *, satisficing: bool = False, verification: str = "OPTIONAL"
    ) -> Quality[Any]:
        return Quality._of("SUPERB", done, checks, satisficing, verification)


class Routing(_Members, Generic[A]):
    """Task class, and whether the tools work."""

    def __init__(self, task_class: str, tools_state: str) -> None:
        super().__init__({"task_class": task_class, "tools_state": tools_state})


class Claims:
    """Marker of epistemics that make a claim about the present, which needs live evidence (INV-004)."""


class ClaimsNothing:
    """Marker of epistemics that need no live evidence."""


class Epistemics(_Members, Generic[A]):
    """Status, confidence and freshness of a packet's claims."""

    @staticmethod
    def of(
        *,
        status: str,
        freshness: str,
        confidence: float,
        calibration: str,
        assumptions: Iterable[str] = (),
        stale_after: int | None = None,
    ) -> Epistemics[Any]:
        members = {
            "status": status, "confidence": confidence, "calibration_note": calibration, "freshness_class": freshness,
            "assumptions": list(assumptions),
        }
        return Epistemics(members if stale_after is None else {**members, "stale_if_older_than_seconds": stale_after})


class Live:
    """Marker of live evidence, which supports claims about the present."""


class NotLive:
    """Marker of evidence that is not live."""


class Evidence(_Members, Generic[A]):
    """Evidence for a packet's claims, or the reason for its absence. Its parameter is the best kind among its references."""

    @staticmethod
    def absent(reason: str) -> Evidence[Any]:
        return Evidence({"evidence_refs": [], "evidence_absent_reason": reason})

    @staticmethod
    def _reference(kind: str, ref_id: str, timestamp: str, reliability: float | None) -> dict[str, Any]:
        reference = {"ref_type": kind, "ref_id": ref_id, "timestamp": timestamp}
        return reference if reliability is None else {**reference, "reliability_score": reliability}


def know_references(*kinds: str) -> None:
    """Adds a constructor for each type of evidence, and a method that adds a reference of it."""
    for kind in kinds:

        def first(ref_id: str, timestamp: str, *, reliability: float | None = None, kind: str = kind) -> Evidence[Any]:
            return Evidence({"evidence_refs": [Evidence._reference(kind, ref_id, timestamp, reliability)]})

        def added(
            self: Evidence[Any], ref_id: str, timestamp: str, *, reliability: float | None = None, kind: str = kind
        ) -> Evidence[Any]:
            known = self._members["evidence_refs"]
            return Evidence({"evidence_refs": [*known, Evidence._reference(kind, ref_id, timestamp, reliability)]})

        setattr(Evidence, kind, staticmethod(first))
        setattr(Evidence, f"and_{kind}", added)


class Grounded:
    """Marker of an envelope whose claims about the present have live evidence, or that makes none (INV-004)."""


class Envelope(_Members, Generic[A, B, C, D]):
    """Envelope of packets. Its type includes stakes, quality, tools state, and whether its claims have evidence."""

    def __class_getitem__(cls, parameters: object) -> type[Envelope[Any, Any, Any, Any]]:
        # The last type parameter has a default, which `typing` supports only from Python 3.13 on.
        return cls

    @classmethod
    def known_later(cls, members: Any) -> Self:
        """Returns an envelope whose stakes, quality and tools state are known only at run time: the core checks it."""
        made = object.__new__(cls)
        made._members = json.loads(members.to_json()) if hasattr(members, "to_json") else members
        return made

    def __init__(
        self,
        *,
        intent: object,
        stakes: Stakes[Any],
        quality: Quality[Any],
        budgets: object,
        epistemics: Epistemics[Any],
        evidence: Evidence[Any],
        routing: Routing[Any],
    ) -> None:
        super().__init__({
            "intent": intent, "stakes": stakes, "quality": quality, "budgets": budgets, "epistemics": epistemics,
            "evidence": evidence, "routing": routing,
        })


class _Stage:
    """Stage of an arbitration."""

    def __init__(self, core: _core.Arbitration, options: Sequence[str]) -> None:
        self._core, self._options = core, options

    def _keep(self, stage: type[S], name: str, keep: Callable[[str], bool]) -> S:
        kept = [option for option in self._options if keep(option)]
        return stage(self._core.keep(name, kept), kept)

    def __getattr__(self, name: str) -> NoReturn:
        if name in ("veto", "feasible", "tradeoff"):
            message = f"`{name}` is not the next stage after `{type(self).__name__}`"
            fix = "go through the stages in order: `.veto(..).feasible(..).tradeoff(..)`"
            raise IllegalMove(message, move=name, state=type(self).__name__, code="INV-006", fix=fix)
        raise AttributeError(name)


class FeasibleOptions(_Stage):
    """Options that budgets and tools allow, before stage 3 (INV-006)."""

    def tradeoff(self, policy: str, rationale: str) -> Ruling:
        return Ruling(self._core.tradeoff(policy, rationale), self._options[0])


class VettedOptions(_Stage):
    """Options that the constitution allows, before stage 2 (INV-006)."""

    def feasible(self, fits: Callable[[str], bool]) -> FeasibleOptions:
        return self._keep(FeasibleOptions, "feasible", fits)


class Arbitration(_Stage):
    """Options of a decision, before stage 1 (INV-006)."""

    def __init__(self, *options: str) -> None:
        super().__init__(_core.Arbitration(list(options)), options)

    def veto(self, allowed: Callable[[str], bool]) -> VettedOptions:
        return self._keep(VettedOptions, "veto", allowed)


class Deferrable:
    """Marker of a ruling whose envelope allows deferring."""


class AllVerified:
    """Marker of an order whose assumptions are all verified."""


class SomeUnverified:
    """Marker of an order with an assumption that was not verified."""


class Overridden:
    """Marker of an order for which layer 1 overrides INV-003."""


class Layer1:
    """Authority of layer 1. The program that starts agents assumes it, and gives orders to them."""

    def __init__(self) -> None:
        raise TypeError("assume the authority by `Layer1.assume()`")

    @staticmethod
    def assume() -> Layer1:
        return object.__new__(Layer1)

    def order(self, reason: str) -> _core.Layer1Order:
        """Returns an order with its reason. It allows one use."""
        return _core.Layer1Order(reason)


class Alert(_Members):
    """Alert of severity INFO or WARNING, which changes no state. It may revoke tokens, from the next packet on."""

    _order: _core.Layer1Order | None = None

    @staticmethod
    def info(alert_type: str, summary: str) -> Alert:
        return Alert({"alert_type": alert_type, "severity": "INFO", "summary": summary})

    @staticmethod
    def warning(alert_type: str, summary: str) -> Alert:
        return Alert({"alert_type": alert_type, "severity": "WARNING", "summary": summary})

    @staticmethod
    def budget_override(order: _core.Layer1Order) -> Alert:
        """Returns an alert with which layer 1 approves that the episode exceeds its budgets. It allows one use."""
        alert = Alert({})
        alert._order = order.budget_override()
        return alert

    def revoking(self, *token_ids: str) -> Alert:
        """Returns the alert with additional tokens to revoke."""
        alert = Alert({**self._members, "revoked_token_ids": [*self._members.get("revoked_token_ids", ()), *token_ids]})
        alert._order = self._order
        return alert

    def to_json(self) -> str:
        if self._order is not None:
            raise TypeError("a budget override is not JSON, because layer 1 sends it; pass it to `alert`")
        return super().to_json()


class _Under:
    """Decision with its envelope."""

    def __init__(self, core: _core.Order, envelope: object) -> None:
        self._core, self._envelope = core, envelope


class RulingUnder(_Under, Generic[A]):
    """Ruling with the envelope of its decision."""


class OrderUnder(_Under):
    """Order to act with an envelope that allows it."""


class Ruling:
    """Result of an arbitration. It allows one decision."""

    def __init__(self, core: _core.Order, chosen: str) -> None:
        self._core, self.chosen = core, chosen

    def to_act(self) -> ActOrder[Any]:
        return ActOrder(self._core.to_act())

    def under(self, envelope: object) -> RulingUnder[Any]:
        return RulingUnder(self._core, envelope)


class ActOrder(Generic[A]):
    """Order to act on a ruling. It allows one decision."""

    def __init__(self, core: _core.Order) -> None:
        self._core = core

    def relies_on(self, verified: _core.Verified) -> ActOrder[Any]:
        return ActOrder(self._core.relies_on(verified))

    def assumes(self, assumption: str) -> ActOrder[Any]:
        return ActOrder(self._core.assumes(assumption))

    def layer1_override(self, order: _core.Layer1Order) -> ActOrder[Any]:
        return ActOrder(self._core.layer1_override(order))

    def under(self, envelope: object) -> OrderUnder:
        return OrderUnder(self._core, envelope)


class Target(_Members):
    """Assumption that a verification loop must verify."""

    def __init__(self, assumption: str, success_criteria: str, tool: type[Tool]) -> None:
        super().__init__({
            "assumption": assumption, "method": "tool", "success_criteria": success_criteria, "tool_id": tool._name,
        })
        self.assumption = assumption


class Plan(_Members):
    """Plan of a verification loop."""

    def __init__(
        self, first: Target, /, *more: Target, max_tool_calls: int | None = None, time_budget_seconds: int | None = None
    ) -> None:
        members = {
            "targets": [first, *more], "max_tool_calls": max_tool_calls, "time_budget_seconds": time_budget_seconds,
        }
        super().__init__({name: value for name, value in members.items() if value is not None})


class Proof:
    """Proof that a verification loop is complete."""

    def __init__(self, core: _core.Proof) -> None:
        self._core = core

    def verifies(self, target: Target) -> _core.Verified:
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
    """Tool with a safety class; derive from `ReadTool`, `WriteTool` or `MixedTool`."""

    _name = ""
    _class = ""

    def __init_subclass__(cls, *, name: str | None = None, safety: str | None = None) -> None:
        super().__init_subclass__()
        cls._class = safety or cls._class
        if name is None and safety is None:
            raise TypeError(f"`{cls.__name__}` has no tool id; write `class {cls.__name__}(.., name=\"config.get\")`")
        cls._name = name or ""

    @classmethod
    def _call(cls, params: object, timeout_seconds: int | None) -> _core.Directive:
        return _core.Directive(cls._name, cls._class, params, timeout_seconds)


def _operation(name: str) -> Any:
    def call(cls: type[Tool], params: object = None, *, timeout_seconds: int | None = None) -> _core.Directive:
        return cls._call(params, timeout_seconds)

    call.__name__ = name
    call.__doc__ = f"Returns a call of the tool for the operation `{name}`."
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
    def _lists(cls) -> tuple[list[str], list[str]]:
        for base in getattr(cls, "__orig_bases__", ()):
            if get_origin(base) is Scope:
                tools, operations = (_members(argument) for argument in get_args(base))
                return [tool._name for tool in tools], [operation.__name__.lower() for operation in operations]
        raise TypeError(f"`{cls.__name__}` lists no tools; derive it from `Scope[Tool, Operation]`")


def _members(argument: Any) -> tuple[Any, ...]:
    return get_args(argument) if get_origin(argument) in (Union, UnionType) else (argument,)


class Planned:
    """Loop with a plan, in which no directive was sent."""


class Attempted:
    """Loop in which no directive has succeeded."""


class Proven:
    """Loop in which a directive has succeeded."""
