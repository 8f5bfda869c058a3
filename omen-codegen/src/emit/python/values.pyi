"""Values that the moves of an episode take and return."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar, final, overload

from typing_extensions import Self
from typing_extensions import TypeVar as TypeVarWithDefault

from ._errors import OmenError as OmenError
from ._rules import *
from ._stakes import Stakes as Stakes
from ._stakes import _Made

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

class SupportsJson(Protocol):
    """Value that can be written as JSON, such as an object of a generated packet class."""
    def to_json(self) -> str: ...

Payload: TypeAlias = SupportsJson | Mapping[str, Json]
EpistemicStatus: TypeAlias = {enum EpistemicStatus}
SureStatus: TypeAlias = {sure}
FreshnessClass: TypeAlias = {enum FreshnessClass}
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
ToolsT = TypeVar("ToolsT", covariant=True, bound=ToolsState)
# Type parameters of an envelope that is being constructed.
_LevelT = TypeVar("_LevelT")
_TierT = TypeVar("_TierT")
_ToolsT = TypeVar("_ToolsT", bound=ToolsState)
ClaimT = TypeVar("ClaimT", covariant=True)
BestT = TypeVar("BestT", covariant=True)
ClassT = TypeVar("ClassT", covariant=True)
ProgressT = TypeVar("ProgressT", covariant=True)
KindT = TypeVar("KindT", covariant=True)
ToolT = TypeVar("ToolT")
OpT = TypeVar("OpT")
ToolIn = TypeVar("ToolIn", contravariant=True)
OpIn = TypeVar("OpIn", contravariant=True)

@final
class Quality(_Made, Generic[TierT]):
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

class Claims:
    """Marker of epistemics that make a claim about the present, which needs live evidence (INV-004)."""

class ClaimsNothing:
    """Marker of epistemics that need no live evidence."""

@final
class Epistemics(_Made, Generic[ClaimT]):
    """Status, confidence and freshness of a packet's claims."""
    @overload
    @staticmethod
    def of(
        *, status: SureStatus, freshness: FreshnessClass, confidence: float, calibration: str, assumptions: Sequence[str] = (),
        stale_after: int | None = None,
    ) -> Epistemics[ClaimsNothing]: ...
    @overload
    @staticmethod
    def of(
        *, status: EpistemicStatus, freshness: {lasting}, confidence: float, calibration: str,
        assumptions: Sequence[str] = (), stale_after: int | None = None,
    ) -> Epistemics[ClaimsNothing]: ...
    @overload
    @staticmethod
    def of(
        *, status: EpistemicStatus, freshness: FreshnessClass, confidence: float, calibration: str, assumptions: Sequence[str] = (),
        stale_after: int | None = None,
    ) -> Epistemics[Claims]: ...
    def to_json(self) -> str: ...

class Live:
    """Marker of live evidence, which supports claims about the present."""

class NotLive:
    """Marker of evidence that is not live."""

@final
class Evidence(_Made, Generic[BestT]):
    """Evidence for a packet's claims, or the reason for its absence. Its parameter is the best kind among its references."""
{references}
    @staticmethod
    def absent(reason: str) -> Evidence[NotLive]: ...
    def to_json(self) -> str: ...

class Grounded:
    """Marker of an envelope whose claims about the present have live evidence, or that makes none (INV-004)."""

GroundT = TypeVarWithDefault("GroundT", covariant=True, default=Grounded)

@final
class Envelope(Generic[LevelT, TierT, ToolsT, GroundT]):
    """Envelope of packets. Its type includes stakes, quality, tools state, and whether its claims have evidence."""
    @overload
    def __init__(
        self: Envelope[_LevelT, _TierT, _ToolsT, Grounded], *, intent: Payload, stakes: Stakes[_LevelT], quality: Quality[_TierT],
        budgets: Payload, epistemics: Epistemics[ClaimsNothing], evidence: Evidence[Any], routing: Routing[_ToolsT],
    ) -> None: ...
    @overload
    def __init__(
        self: Envelope[_LevelT, _TierT, _ToolsT, Grounded], *, intent: Payload, stakes: Stakes[_LevelT], quality: Quality[_TierT],
        budgets: Payload, epistemics: Epistemics[Any], evidence: Evidence[Live], routing: Routing[_ToolsT],
    ) -> None: ...
    @overload
    def __init__(
        self: Envelope[_LevelT, _TierT, _ToolsT, {Grounded Epistemics[Claims]}], *, intent: Payload, stakes: Stakes[_LevelT], quality: Quality[_TierT],
        budgets: Payload, epistemics: Epistemics[Any], evidence: Evidence[Any], routing: Routing[_ToolsT],
    ) -> None: ...
    @staticmethod
    def known_later(members: Payload) -> AnyEnvelope: ...
    def to_json(self) -> str: ...

AnyEnvelope: TypeAlias = Envelope[Level, Tier, ToolsState]
# A decision that seeks certainty takes an envelope whose claims have no evidence yet (D31).
AskingEnvelope: TypeAlias = Envelope[Level, Tier, ToolsState, Any]

@final
class Layer1(_Made):
    """Authority of layer 1. The program that starts agents assumes it, and gives orders to them."""
    @staticmethod
    def assume() -> Layer1: ...
    def order(self, reason: str) -> Layer1Order: ...

@final
class Layer1Order(_Made):
    """Order of layer 1. It allows one use."""
    @property
    def reason(self) -> str: ...

@final
class Arbitration:
    """Options of a decision, before stage 1 (INV-006)."""
    def __init__(self, *options: str) -> None: ...
    def veto(self, allowed: Callable[[str], bool]) -> VettedOptions: ...
    feasible: {FeasibleHere}
    tradeoff: {TradeoffHere}

@final
class VettedOptions(_Made):
    """Options that the constitution allows, before stage 2 (INV-006)."""
    def feasible(self, fits: Callable[[str], bool]) -> FeasibleOptions: ...
    tradeoff: {TradeoffHere}

@final
class FeasibleOptions(_Made):
    """Options that budgets and tools allow, before stage 3 (INV-006)."""
    def tradeoff(self, policy: Policy, rationale: str) -> Ruling: ...

class Deferrable:
    """Marker of a ruling whose envelope allows deferring."""

@final
class RulingUnder(_Made, Generic[KindT]):
    """Ruling with the envelope of its decision."""

@final
class Ruling(_Made):
    """Result of an arbitration. It allows one decision."""
    @property
    def chosen(self) -> str: ...
    def to_act(self) -> ActOrder[AllVerified]: ...
    @overload
    def under(self, envelope: Envelope[{high}, Tier, Literal["tools_down"], Any]) -> RulingUnder[{ToolsAllowAct tools_down at HIGH}]: ...
    @overload
    def under(self, envelope: AskingEnvelope) -> RulingUnder[Deferrable]: ...

class AllVerified:
    """Marker of an order whose assumptions are all verified."""

class SomeUnverified:
    """Marker of an order with an assumption that was not verified."""

class Overridden:
    """Marker of an order for which layer 1 overrides INV-003."""

@final
class OrderUnder(_Made):
    """Order to act with an envelope that allows it."""

@final
class ActOrder(_Made, Generic[KindT]):
    """Order to act on a ruling. It allows one decision."""
    def relies_on(self, verified: Verified) -> Self: ...
    def assumes(self, assumption: str) -> ActOrder[SomeUnverified]: ...
    def layer1_override(self, order: Layer1Order) -> ActOrder[Overridden]: ...
    @overload
    def under(self, envelope: Envelope[{low}, Literal["PAR", "SUPERB"], ToolsState]) -> OrderUnder: ...
    @overload
    def under(self: ActOrder[AllVerified], envelope: Envelope[{high}, Literal["SUPERB"], Literal["tools_ok", "tools_partial"]]) -> OrderUnder: ...
    @overload
    def under(self: ActOrder[Overridden], envelope: Envelope[{high}, Literal["PAR", "SUPERB"], Literal["tools_ok", "tools_partial"]]) -> OrderUnder: ...
    @overload
    def under(self, envelope: Envelope[Level, Literal["SUBPAR"], ToolsState]) -> {TierMayAct SUBPAR}: ...
    @overload
    def under(self, envelope: Envelope[{high}, Tier, Literal["tools_down"]]) -> {ToolsAllowAct tools_down at HIGH}: ...
    @overload
    def under(self, envelope: AnyEnvelope) -> {StakesAllowAct HIGH}: ...
    @overload
    def under(self, envelope: AskingEnvelope) -> {Grounded Epistemics[Claims]}: ...

@final
class Target:
    """Assumption that a verification loop must verify."""
    def __init__(self, assumption: str, success_criteria: str, tool: type[Tool]) -> None: ...

@final
class Plan:
    """Plan of a verification loop."""
    def __init__(self, first: Target, /, *more: Target, max_tool_calls: int | None = None, time_budget_seconds: int | None = None) -> None: ...

@final
class Verified(_Made):
    """Assumption that a loop has verified."""

@final
class Proof(_Made):
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
    """Tool with a safety class; derive from `ReadTool`, `WriteTool` or `MixedTool`."""
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
class Directive(_Made, Generic[ToolT, OpT]):
    """Directive that may write, without a permit."""
    def with_permit(self, permit: Permit[ToolT, OpT]) -> Order[Literal["WRITE"]]: ...

@final
class Order(_Made, Generic[ClassT]):
    """Directive that can be sent."""

class Scope(Generic[ToolT, OpT]):
    """Tools and operations that a token allows: `class RaisePool(Scope[ConfigSet, Modify])`."""

@final
class Permit(_Made, Generic[ToolIn, OpIn]):
    """One use of a token."""
    @property
    def token_id(self) -> str: ...
    def _covers(self, tool: ToolIn, operation: OpIn) -> None: ...

@final
class LiveToken(_Made):
    """Token that a directive can use now: issued, not revoked, not expired, and with uses left."""
    @property
    def token_id(self) -> str: ...
    @property
    def tools(self) -> list[str]: ...
    @property
    def operations(self) -> list[OperationType]: ...
    @property
    def uses_left(self) -> int: ...
    @property
    def expiry(self) -> str: ...

AlertType: TypeAlias = {enum AlertType}

@final
class Alert(_Made):
    """Alert of severity INFO or WARNING, which changes no state. It may revoke tokens, from the next packet on."""
    @staticmethod
    def info(alert_type: AlertType, summary: str) -> Alert: ...
    @staticmethod
    def warning(alert_type: AlertType, summary: str) -> Alert: ...
    @staticmethod
    def budget_override(order: Layer1Order) -> Alert: ...
    def revoking(self, *token_ids: str) -> Alert: ...
    def to_json(self) -> str: ...

class Planned:
    """Loop with a plan, in which no directive was sent."""
class Attempted:
    """Loop in which no directive has succeeded."""
class Proven:
    """Loop in which a directive has succeeded."""

@final
class Task(_Made):
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
class Settled(_Made, Generic[ProgressT]):
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
    """Value that was already used: each state, task and permit can be used only once."""

class LogError(OmenError):
    """Log that cannot be written, opened or resumed."""
