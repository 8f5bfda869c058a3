"""Values that the moves of an episode take and return."""

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, Literal, Protocol, TypeAlias, TypeVar, final, overload

from typing_extensions import Self

from ._errors import OmenError as OmenError
from ._rules import *
from ._stakes import Stakes as Stakes

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

class SupportsJson(Protocol):
    """Value that writes itself as JSON, such as the generated packet classes."""
    def to_json(self) -> str: ...

Payload: TypeAlias = SupportsJson | Mapping[str, Json]
EpistemicStatus: TypeAlias = {enum EpistemicStatus}
Outcome: TypeAlias = {enum DecisionOutcome}
OperationType: TypeAlias = {enum OperationType}
SafetyClass: TypeAlias = {enum ToolSafetyClass}
Level: TypeAlias = {enum StakesLevel}
Tier: TypeAlias = {enum QualityTier}
ToolsState: TypeAlias = {enum ToolsState}
TaskClass: TypeAlias = {enum TaskClass}
VerificationRequirement: TypeAlias = {enum VerificationRequirement}
Policy: TypeAlias = {policies}

LevelT = TypeVar("LevelT", covariant=True)
TierT = TypeVar("TierT", covariant=True)
ToolsT = TypeVar("ToolsT", covariant=True)
ClassT = TypeVar("ClassT", covariant=True)
ProgressT = TypeVar("ProgressT", covariant=True)
KindT = TypeVar("KindT", covariant=True)
ToolT = TypeVar("ToolT")
OpT = TypeVar("OpT")
ToolIn = TypeVar("ToolIn", contravariant=True)
OpIn = TypeVar("OpIn", contravariant=True)

@final
class Quality(Generic[TierT]):
    """Quality of the work: its tier, and the definition of done."""
    @staticmethod
    def subpar(done: str, checks: Sequence[str], *, satisficing: bool = ..., verification: VerificationRequirement = ...) -> Quality[Literal["SUBPAR"]]: ...
    @staticmethod
    def par(done: str, checks: Sequence[str], *, satisficing: bool = ..., verification: VerificationRequirement = ...) -> Quality[Literal["PAR"]]: ...
    @staticmethod
    def superb(done: str, checks: Sequence[str], *, satisficing: bool = ..., verification: VerificationRequirement = ...) -> Quality[Literal["SUPERB"]]: ...
    def to_json(self) -> str: ...

@final
class Routing(Generic[ToolsT]):
    """Task class, and whether the tools work."""
    def __init__(self, task_class: TaskClass, tools_state: ToolsT) -> None: ...
    def to_json(self) -> str: ...

@final
class Envelope(Generic[LevelT, TierT, ToolsT]):
    """Envelope of packets: stakes, quality and tools state are part of its type."""
    def __init__(
        self, *, intent: Payload, stakes: Stakes[LevelT], quality: Quality[TierT], budgets: Payload, epistemics: Payload, evidence: Payload,
        routing: Routing[ToolsT],
    ) -> None: ...
    def to_json(self) -> str: ...

AnyEnvelope: TypeAlias = Envelope[Level, Tier, ToolsState]

@final
class Arbitration:
    """Options of a decision, before stage 1 (INV-006)."""
    def __init__(self, *options: str) -> None: ...
    def veto(self, allowed: Callable[[str], bool]) -> VettedOptions: ...
    feasible: {FeasibleHere}
    tradeoff: {TradeoffHere}

@final
class VettedOptions:
    """Options that the constitution allows, before stage 2 (INV-006)."""
    def feasible(self, fits: Callable[[str], bool]) -> FeasibleOptions: ...
    tradeoff: {TradeoffHere}

@final
class FeasibleOptions:
    """Options that budgets and tools allow, before stage 3 (INV-006)."""
    def tradeoff(self, policy: Policy, rationale: str) -> Ruling: ...

class Deferrable:
    """Marker of a ruling whose envelope allows deferring."""

@final
class RulingUnder(Generic[KindT]):
    """Ruling with the envelope of its decision."""

@final
class Ruling:
    """Result of an arbitration. It allows one decision."""
    @property
    def chosen(self) -> str: ...
    def to_act(self) -> ActOrder[AllVerified]: ...
    @overload
    def under(self, envelope: Envelope[{high}, Tier, Literal["tools_down"]]) -> RulingUnder[{ToolsAllowAct tools_down}]: ...
    @overload
    def under(self, envelope: AnyEnvelope) -> RulingUnder[Deferrable]: ...

class AllVerified:
    """Marker of an order whose assumptions are all verified."""

class SomeUnverified:
    """Marker of an order with an assumption that was not verified."""

@final
class OrderUnder:
    """Order to act with an envelope that allows it."""

@final
class ActOrder(Generic[KindT]):
    """Order to act on a ruling. It allows one decision."""
    def relies_on(self, verified: Verified) -> Self: ...
    def assumes(self, assumption: str) -> ActOrder[SomeUnverified]: ...
    @overload
    def under(self, envelope: Envelope[{low}, Literal["PAR", "SUPERB"], ToolsState]) -> OrderUnder: ...
    @overload
    def under(self: ActOrder[AllVerified], envelope: Envelope[{high}, Literal["SUPERB"], Literal["tools_ok", "tools_partial"]]) -> OrderUnder: ...
    @overload
    def under(self, envelope: Envelope[Level, Literal["SUBPAR"], ToolsState]) -> {TierMayAct SUBPAR}: ...
    @overload
    def under(self, envelope: Envelope[{high}, Tier, Literal["tools_down"]]) -> {ToolsAllowAct tools_down}: ...
    @overload
    def under(self, envelope: AnyEnvelope) -> {StakesAllowAct HIGH}: ...

@final
class Target:
    """Assumption that a verification loop is to verify."""
    def __init__(self, assumption: str, success_criteria: str, tool: type[Tool]) -> None: ...

@final
class Plan:
    """Plan of a verification loop."""
    def __init__(self, first: Target, /, *more: Target, max_tool_calls: int | None = None, time_budget_seconds: int | None = None) -> None: ...

@final
class Verified:
    """Assumption that a loop has verified."""

@final
class Proof:
    """Proof that a verification loop is complete."""
    def verifies(self, target: Target) -> Verified: ...

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
    def __init_subclass__(cls, *, name: str = ...) -> None: ...

class ReadTool(Tool):
    """Tool that reads."""
    @classmethod
    def read(cls, params: Mapping[str, Json] | None = None, *, timeout_seconds: int | None = None) -> Order[Literal["READ"]]: ...
    write: {OpFits write}
    modify: {OpFits modify}
    delete: {OpFits delete}

class WriteTool(Tool):
    """Tool that writes."""
    @classmethod
    def write(cls, params: Mapping[str, Json] | None = None, *, timeout_seconds: int | None = None) -> Directive[Self, Write]: ...
    @classmethod
    def modify(cls, params: Mapping[str, Json] | None = None, *, timeout_seconds: int | None = None) -> Directive[Self, Modify]: ...
    @classmethod
    def delete(cls, params: Mapping[str, Json] | None = None, *, timeout_seconds: int | None = None) -> Directive[Self, Delete]: ...
    read: {OpFits read}

class MixedTool(Tool):
    """Tool that reads and writes."""
    @classmethod
    def read(cls, params: Mapping[str, Json] | None = None, *, timeout_seconds: int | None = None) -> Directive[Self, Read]: ...
    @classmethod
    def write(cls, params: Mapping[str, Json] | None = None, *, timeout_seconds: int | None = None) -> Directive[Self, Write]: ...
    @classmethod
    def modify(cls, params: Mapping[str, Json] | None = None, *, timeout_seconds: int | None = None) -> Directive[Self, Modify]: ...
    @classmethod
    def delete(cls, params: Mapping[str, Json] | None = None, *, timeout_seconds: int | None = None) -> Directive[Self, Delete]: ...

@final
class Directive(Generic[ToolT, OpT]):
    """Directive that may write, without a permit."""
    def with_permit(self, permit: Permit[ToolT, OpT]) -> Order[Literal["WRITE"]]: ...

@final
class Order(Generic[ClassT]):
    """Directive that can be sent."""

class Scope(Generic[ToolT, OpT]):
    """Tools and operations that a token allows: `class RaisePool(Scope[ConfigSet, Modify])`."""

@final
class Permit(Generic[ToolIn, OpIn]):
    """One use of a token."""
    def _covers(self, tool: ToolIn, operation: OpIn) -> None: ...

class Planned:
    """Loop with a plan, in which no directive was sent."""
class Attempted:
    """Loop in which no directive has succeeded."""
class Proven:
    """Loop in which a directive has succeeded."""

@final
class Task:
    """Directive without a result."""
    @property
    def task_id(self) -> str: ...
    @property
    def directive(self) -> str: ...
    @property
    def tool_id(self) -> str | None: ...
    @property
    def params(self) -> Mapping[str, Json]: ...
    def success(self, data: Json) -> Settled[Proven]: ...
    def failure(self, message: str) -> Settled[Attempted]: ...
    def cancelled(self) -> Settled[Attempted]: ...

@final
class Settled(Generic[ProgressT]):
    """Task with its result, which is recorded by `settle`."""

class IllegalMove(OmenError):
    """Move that the protocol refuses. The episode is unchanged."""
    @property
    def move(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def fix(self) -> str: ...

class StateUsed(OmenError):
    """Value that was used before: each state, task and permit is used once."""

class LogError(OmenError):
    """Log that cannot be written, opened or resumed."""
