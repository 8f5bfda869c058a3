"""Packets of the protocol, and their parts. Generated from the schema by `cargo xtask docs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from omen._core import Object as Object
from omen._enums import TextEnum
from typing_extensions import Self, TypeAlias


BackoffFactor: TypeAlias = float
"""A factor of at least 1 by which a waiting time grows (D39)."""

CampaignId: TypeAlias = str
"""Identifier of a campaign, which groups episodes under a wider aim: `camp_` and then letters, digits, `_` or `-`."""

CorrelationId: TypeAlias = str
"""Identifier of an episode: `corr_` and then letters, digits, `_` or `-`. All packets of one episode carry the same one."""

Count: TypeAlias = int
"""An integer from 0 to 2^53-1, the largest that every language reads exactly (D41)."""

LayerNumber: TypeAlias = int
"""Number of a layer of the agent, from 1 (constitution, the highest authority) through 5 (decisions) to 6 (execution)."""

LossAmount: TypeAlias = float
"""The greatest acceptable loss as a number, in a unit that sender and receiver agree on."""

LossText: TypeAlias = str
"""The greatest acceptable loss in words; it may be empty."""

NonNegativeNumber: TypeAlias = float
"""A number of at least 0, not necessarily an integer."""

PacketId: TypeAlias = str
"""Identifier of a packet: `pkt_` and then letters, digits, `_` or `-`. Unique within its episode (D21)."""

PositiveCount: TypeAlias = int
"""An integer from 1 to 2^53-1, the largest that every language reads exactly (D41)."""

RealNumber: TypeAlias = float
"""Any number, negative ones included."""

ScopeText: TypeAlias = str
"""The bounds of an intent in words; it may be empty."""

TaskId: TypeAlias = str
"""Identifier of a task: `task_` and then letters, digits, `_` or `-`. Unique among the directives of an episode (D21)."""

Text: TypeAlias = str
"""Text of at least one character."""

Timestamp: TypeAlias = str
"""An RFC 3339 date and time with an offset, for example `2026-03-01T10:00:00Z`. A timestamp without an offset is invalid (D2)."""

TokenId: TypeAlias = str
"""Identifier of an authorization token: `token_` and then letters, digits, `_` or `-`."""

UnitInterval: TypeAlias = float
"""A number from 0 to 1, both included."""


class Adversariality(TextEnum):
    """Whether others work against the agent."""

    BENIGN = "BENIGN"
    """Nobody works against the agent. Ranks low (D36)."""

    CONTESTED = "CONTESTED"
    """Others compete with the agent. Ranks medium (D36)."""

    HOSTILE = "HOSTILE"
    """Others try to do harm. Ranks high (D36)."""

_Adversariality: TypeAlias = Adversariality | Literal["BENIGN", "CONTESTED", "HOSTILE"]


class AlertSeverity(TextEnum):
    """How severe an alert is. Only `CRITICAL` and `CLEAR` change the state (D13, D14)."""

    INFO = "INFO"
    """For the record; legal in every state (D14)."""

    WARNING = "WARNING"
    """Something deserves attention; legal in every state (D14)."""

    CRITICAL = "CRITICAL"
    """Emergency halt: leads to safe mode from every state and from any layer (D14)."""

    CLEAR = "CLEAR"
    """Ends safe mode and cancels what was open. Legal only in safe mode, and only from layer 1 or Integrity (D13)."""

_AlertSeverity: TypeAlias = AlertSeverity | Literal["INFO", "WARNING", "CRITICAL", "CLEAR"]


class AlertType(TextEnum):
    """What an alert is about (D44)."""

    BUDGET_OVERRUN = "budget_overrun"
    """More was used than the budgets allow."""

    CONSTITUTIONAL_VIOLATION = "constitutional_violation"
    """A constitutional limit was broken."""

    TOOL_FAILURE = "tool_failure"
    """A tool does not work."""

    DRIFT = "drift"
    """The agent's behaviour or beliefs drift away from its intent."""

    CONTRADICTION = "contradiction"
    """Beliefs or sources contradict each other."""

    TOKEN_REVOCATION = "token_revocation"
    """Tokens are revoked."""

    TIMEOUT = "timeout"
    """Something took too long."""

    RECOVERY = "recovery"
    """A fault has been resolved."""

    OTHER = "other"
    """Anything else; the summary says what."""

_AlertType: TypeAlias = AlertType | Literal["budget_overrun", "constitutional_violation", "tool_failure", "drift", "contradiction", "token_revocation", "timeout", "recovery", "other"]


class DecisionOutcome(TextEnum):
    """What was decided; it determines which packet is legal next (D6)."""

    VERIFY_FIRST = "VERIFY_FIRST"
    """Test the assumptions before anything else: a verification loop begins at once, and a second decision must follow it (E3, D5)."""

    ACT = "ACT"
    """Carry out the chosen option: next comes a `ToolAuthorizationToken` or a READ directive (D6)."""

    ESCALATE = "ESCALATE"
    """Hand the decision over: next comes an `EscalationPacket` (D6)."""

    DEFER = "DEFER"
    """Do nothing for now: next comes a `BeliefUpdatePacket` (D6)."""

    CANCEL = "CANCEL"
    """Abandon the intent: next comes a `BeliefUpdatePacket` (D6)."""

_DecisionOutcome: TypeAlias = DecisionOutcome | Literal["VERIFY_FIRST", "ACT", "ESCALATE", "DEFER", "CANCEL"]


class EpistemicStatus(TextEnum):
    """How the content of a packet is known."""

    OBSERVED = "OBSERVED"
    """Seen directly, by a tool or a user."""

    DERIVED = "DERIVED"
    """Derived from observations by a reliable method."""

    REMEMBERED = "REMEMBERED"
    """Recalled from memory."""

    INFERRED = "INFERRED"
    """Concluded without proof. A claim about the present with this status needs live evidence (INV-004)."""

    HYPOTHESIZED = "HYPOTHESIZED"
    """Assumed for the sake of argument. A claim about the present with this status needs live evidence (INV-004)."""

    UNKNOWN = "UNKNOWN"
    """Not known. A claim about the present with this status needs live evidence (INV-004)."""

_EpistemicStatus: TypeAlias = EpistemicStatus | Literal["OBSERVED", "DERIVED", "REMEMBERED", "INFERRED", "HYPOTHESIZED", "UNKNOWN"]


class EscalationTrigger(TextEnum):
    """Why a decision is handed over."""

    HIGH_STAKES_HIGH_UNCERTAINTY = "high_stakes_high_uncertainty"
    """High stakes and high uncertainty."""

    CONSTITUTIONAL_BOUNDARY = "constitutional_boundary"
    """A constitutional limit is affected."""

    CONTRADICTION_UNRESOLVED = "contradiction_unresolved"
    """Sources contradict each other and the agent cannot resolve it."""

    BUDGET_INSUFFICIENT = "budget_insufficient"
    """The budgets are insufficient. An accepted escalation of this kind approves the overrun for the episode (D32)."""

    TOOLS_DEGRADED_CRITICAL = "tools_degraded_critical"
    """Required tools do not work."""

    USER_OVERRIDE_REQUIRED = "user_override_required"
    """Only a user may make this decision."""

_EscalationTrigger: TypeAlias = EscalationTrigger | Literal["high_stakes_high_uncertainty", "constitutional_boundary", "contradiction_unresolved", "budget_insufficient", "tools_degraded_critical", "user_override_required"]


class FreshnessClass(TextEnum):
    """How soon the content of a packet becomes stale."""

    REALTIME = "REALTIME"
    """Within seconds to minutes; a claim about the current state (INV-004). Its evidence is stale after an hour if the packet sets no limit (D66)."""

    OPERATIONAL = "OPERATIONAL"
    """Within minutes to hours; a claim about the current state (INV-004). Its evidence is stale after a day if the packet sets no limit (D66)."""

    STRATEGIC = "STRATEGIC"
    """Within hours to days."""

    ARCHIVAL = "ARCHIVAL"
    """Within days to months."""

_FreshnessClass: TypeAlias = FreshnessClass | Literal["REALTIME", "OPERATIONAL", "STRATEGIC", "ARCHIVAL"]


class Impact(TextEnum):
    """How much damage a mistake would do. The only axis that can be critical (D36)."""

    LOW = "LOW"
    """Little damage. Ranks low (D36)."""

    MEDIUM = "MEDIUM"
    """Noticeable damage. Ranks medium (D36)."""

    HIGH = "HIGH"
    """Serious damage. Ranks high (D36)."""

    CRITICAL = "CRITICAL"
    """Severe damage; it alone justifies the stakes level `CRITICAL` (D36)."""

_Impact: TypeAlias = Impact | Literal["LOW", "MEDIUM", "HIGH", "CRITICAL"]


class IntegrityLayer(TextEnum):
    """The one origin that is not a numbered layer."""

    INTEGRITY = "Integrity"
    """The Integrity overlay, which monitors all layers; only it and layer 1 may clear safe mode (D13)."""

_IntegrityLayer: TypeAlias = IntegrityLayer | Literal["Integrity"]


class Irreversibility(TextEnum):
    """How far an effect can be undone."""

    REVERSIBLE = "REVERSIBLE"
    """It can be undone. Ranks low (D36)."""

    PARTIAL = "PARTIAL"
    """It can be undone in part. Ranks medium (D36)."""

    IRREVERSIBLE = "IRREVERSIBLE"
    """It cannot be undone. Ranks high (D36)."""

_Irreversibility: TypeAlias = Irreversibility | Literal["REVERSIBLE", "PARTIAL", "IRREVERSIBLE"]


class MethodKind(TextEnum):
    """How a task is carried out."""

    TOOL = "tool"
    """A tool is called; `tool_id` is required (D40)."""

    CODE = "code"
    """Code is run; `code_ref` is required (D40)."""

    LLM_CALL = "llm_call"
    """A language model is called."""

    MEMORY_QUERY = "memory_query"
    """The agent's memory is queried."""

_MethodKind: TypeAlias = MethodKind | Literal["tool", "code", "llm_call", "memory_query"]


class ObservationType(TextEnum):
    """The kind of observation."""

    TOOL_OUTPUT = "tool_output"
    """Output of a tool."""

    USER_INPUT = "user_input"
    """Input of a user. The only observation that is legal while an escalation waits for an answer (D8)."""

    SYSTEM_TELEMETRY = "system_telemetry"
    """Measurements of the system itself."""

    CHARACTER_STATE = "character_state"
    """The state of a character, such as a player or an agent in a simulated world."""

    MARKET_SIGNAL = "market_signal"
    """A signal from a market."""

    INTEL_UPDATE = "intel_update"
    """News about the environment or about other actors."""

_ObservationType: TypeAlias = ObservationType | Literal["tool_output", "user_input", "system_telemetry", "character_state", "market_signal", "intel_update"]


class OnFailure(TextEnum):
    """What to do if a verification fails (D43)."""

    ESCALATE = "escalate"
    """Hand the decision to a human or to layer 1."""

    DEFER = "defer"
    """Leave the question for later."""

    RETRY = "retry"
    """Try the verification again."""

    CANCEL = "cancel"
    """Abandon the intent."""

_OnFailure: TypeAlias = OnFailure | Literal["escalate", "defer", "retry", "cancel"]


class OperationType(TextEnum):
    """An operation that a token can allow (D26)."""

    READ = "read"
    """Read a resource. It is not sufficient for a WRITE or MIXED directive (D26)."""

    WRITE = "write"
    """Create a resource or replace its content."""

    DELETE = "delete"
    """Remove a resource."""

    MODIFY = "modify"
    """Change part of a resource."""

_OperationType: TypeAlias = OperationType | Literal["read", "write", "delete", "modify"]


class PacketType(TextEnum):
    """The ten types of packet."""

    OBSERVATION_PACKET = "ObservationPacket"
    """Reports an observation: tool output, user input, telemetry."""

    BELIEF_UPDATE_PACKET = "BeliefUpdatePacket"
    """Changes the agent's beliefs, and closes a verification loop or an execution."""

    DECISION_PACKET = "DecisionPacket"
    """Chooses what to do next: verify, act, escalate, defer or cancel."""

    VERIFICATION_PLAN_PACKET = "VerificationPlanPacket"
    """Lists the assumptions that a verification loop tests, and how."""

    TOOL_AUTHORIZATION_TOKEN = "ToolAuthorizationToken"
    """Grants a limited right to use tools that change things."""

    TASK_DIRECTIVE_PACKET = "TaskDirectivePacket"
    """Orders one task: a tool call, code, a model call or a memory query."""

    TASK_RESULT_PACKET = "TaskResultPacket"
    """Reports how a task ended, and closes its directive."""

    ESCALATION_PACKET = "EscalationPacket"
    """Hands a decision to a human or to layer 1, with options to choose from."""

    INTEGRITY_ALERT_PACKET = "IntegrityAlertPacket"
    """Reports an anomaly; it can start safe mode, end it, or revoke tokens."""

    QUEUE_UPDATE_PACKET = "QueueUpdatePacket"
    """Changes a work queue. It has a schema but no transition, so it is illegal in every state (D16)."""

_PacketType: TypeAlias = PacketType | Literal["ObservationPacket", "BeliefUpdatePacket", "DecisionPacket", "VerificationPlanPacket", "ToolAuthorizationToken", "TaskDirectivePacket", "TaskResultPacket", "EscalationPacket", "IntegrityAlertPacket", "QueueUpdatePacket"]


class QualityTier(TextEnum):
    """How carefully a packet's content was worked out."""

    SUBPAR = "SUBPAR"
    """Speculative; it never authorizes an action (INV-002)."""

    PAR = "PAR"
    """Ordinary care: one load-bearing assumption is verified."""

    SUPERB = "SUPERB"
    """Highest care: all load-bearing assumptions are verified. Needed to act at high or critical stakes (INV-003)."""

_QualityTier: TypeAlias = QualityTier | Literal["SUBPAR", "PAR", "SUPERB"]


class QueueAction(TextEnum):
    """What happens to the items of a queue (D45)."""

    ENQUEUE = "enqueue"
    """The items are added."""

    DEQUEUE = "dequeue"
    """The items are removed."""

    REPRIORITIZE = "reprioritize"
    """The items get another priority."""

_QueueAction: TypeAlias = QueueAction | Literal["enqueue", "dequeue", "reprioritize"]


class RefType(TextEnum):
    """The kind of evidence. Tool output and user observations are live evidence (INV-004)."""

    TOOL_OUTPUT = "tool_output"
    """Output of a tool; live evidence."""

    USER_OBSERVATION = "user_observation"
    """Something that a user saw or said; live evidence."""

    MEMORY_ITEM = "memory_item"
    """An item of the agent's memory."""

    DERIVED_CALC = "derived_calc"
    """The result of a calculation."""

_RefType: TypeAlias = RefType | Literal["tool_output", "user_observation", "memory_item", "derived_calc"]


class ResolutionMethod(TextEnum):
    """How a contradiction was resolved."""

    PREFER_FRESH = "prefer_fresh"
    """The newer evidence was preferred."""

    PREFER_HIGHER_RELIABILITY = "prefer_higher_reliability"
    """The more reliable source was preferred."""

    ESCALATED = "escalated"
    """The question was escalated to a human or to layer 1."""

    MANUAL_OVERRIDE = "manual_override"
    """A human resolved it."""

_ResolutionMethod: TypeAlias = ResolutionMethod | Literal["prefer_fresh", "prefer_higher_reliability", "escalated", "manual_override"]


class ResultStatus(TextEnum):
    """How a task ended."""

    SUCCESS = "SUCCESS"
    """It did what was ordered."""

    FAILURE = "FAILURE"
    """It failed; `error_details` is required (D40)."""

    CANCELLED = "CANCELLED"
    """It was cancelled."""

_ResultStatus: TypeAlias = ResultStatus | Literal["SUCCESS", "FAILURE", "CANCELLED"]


class StakesLevel(TextEnum):
    """The overall level of the stakes, which follows from the four axes (D36)."""

    LOW = "LOW"
    """All axes low, or exactly one medium and the rest low (D36)."""

    MEDIUM = "MEDIUM"
    """At least one axis medium or high, and not enough for `HIGH` (D36)."""

    HIGH = "HIGH"
    """Two axes high, or a critical impact (D36). To act then requires tier `SUPERB` and verified assumptions (INV-003)."""

    CRITICAL = "CRITICAL"
    """A critical impact, or a high impact with an irreversible effect and high uncertainty (D36). The requirements of `HIGH` apply too."""

_StakesLevel: TypeAlias = StakesLevel | Literal["LOW", "MEDIUM", "HIGH", "CRITICAL"]


class TaskClass(TextEnum):
    """The kind of task a packet belongs to."""

    FIND = "FIND"
    """Find out something whose place is not known."""

    LOOKUP = "LOOKUP"
    """Fetch something whose place is known."""

    SEARCH = "SEARCH"
    """Go through a body of material for what fits."""

    CREATE = "CREATE"
    """Make something new."""

    VERIFY = "VERIFY"
    """Check whether something holds."""

    COMPILE = "COMPILE"
    """Put material together into one result."""

_TaskClass: TypeAlias = TaskClass | Literal["FIND", "LOOKUP", "SEARCH", "CREATE", "VERIFY", "COMPILE"]


class TaskType(TextEnum):
    """The kind of task."""

    TOOL_READ = "tool_read"
    """Read with a tool."""

    TOOL_WRITE = "tool_write"
    """Change something with a tool; always counts as WRITE (D23)."""

    COMPUTATION = "computation"
    """Compute something."""

    VERIFICATION = "verification"
    """Test an assumption."""

    MEMORY_LOOKUP = "memory_lookup"
    """Look something up in memory."""

_TaskType: TypeAlias = TaskType | Literal["tool_read", "tool_write", "computation", "verification", "memory_lookup"]


class ToolSafetyClass(TextEnum):
    """Whether a task only reads or also changes things."""

    READ = "READ"
    """It only reads; no token is needed."""

    WRITE = "WRITE"
    """It changes things; a live token is needed (E4, INV-007)."""

    MIXED = "MIXED"
    """It reads and changes things; counts as WRITE in every rule (D17)."""

_ToolSafetyClass: TypeAlias = ToolSafetyClass | Literal["READ", "WRITE", "MIXED"]


class ToolsState(TextEnum):
    """Whether the tools work."""

    TOOLS_OK = "tools_ok"
    """All tools work; a verification loop needs a successful result (INV-008)."""

    TOOLS_PARTIAL = "tools_partial"
    """Some tools fail. At medium stakes the uncertainty should be stated as `HIGH`, else INV-010 warns (D34)."""

    TOOLS_DOWN = "tools_down"
    """No tool works. At high or critical stakes a decision can only escalate or cancel (INV-010, D34)."""

_ToolsState: TypeAlias = ToolsState | Literal["tools_ok", "tools_partial", "tools_down"]


class Uncertainty(TextEnum):
    """How much about the situation is unknown."""

    LOW = "LOW"
    """The situation is well known. Ranks low (D36)."""

    MEDIUM = "MEDIUM"
    """Some of it is unknown. Ranks medium (D36)."""

    HIGH = "HIGH"
    """Much of it is unknown. Ranks high (D36)."""

_Uncertainty: TypeAlias = Uncertainty | Literal["LOW", "MEDIUM", "HIGH"]


class UpdateType(TextEnum):
    """Why beliefs change."""

    NEW_BELIEF = "new_belief"
    """Something is believed for the first time."""

    REVISION = "revision"
    """The content of a belief changes."""

    CONTRADICTION_RESOLVED = "contradiction_resolved"
    """Two sources disagreed, and one was preferred; `contradiction_details` is required (D40)."""

    CONFIDENCE_ADJUSTMENT = "confidence_adjustment"
    """The content is unchanged; the confidence changes."""

    STALENESS_REFRESH = "staleness_refresh"
    """The content was confirmed again after it had become stale."""

_UpdateType: TypeAlias = UpdateType | Literal["new_belief", "revision", "contradiction_resolved", "confidence_adjustment", "staleness_refresh"]


class VerificationMethod(TextEnum):
    """How an assumption is tested (D43)."""

    TOOL = "tool"
    """A tool is called."""

    USER = "user"
    """A user is asked."""

    CALCULATION = "calculation"
    """It is computed."""

    MEMORY = "memory"
    """It is looked up in memory."""

_VerificationMethod: TypeAlias = VerificationMethod | Literal["tool", "user", "calculation", "memory"]


class VerificationRequirement(TextEnum):
    """How many of the load-bearing assumptions must be verified."""

    OPTIONAL = "OPTIONAL"
    """None need to be verified."""

    VERIFY_ONE = "VERIFY_ONE"
    """At least one must be verified."""

    VERIFY_ALL = "VERIFY_ALL"
    """All must be verified."""

_VerificationRequirement: TypeAlias = VerificationRequirement | Literal["OPTIONAL", "VERIFY_ONE", "VERIFY_ALL"]


class Packet(Object):
    """Any packet of the protocol. The field `packet_type` of its header identifies which of the ten types it is."""

    @property
    def header(self) -> PacketHeader:
        """Identity, time and origin of the packet; its `packet_type` is `ObservationPacket`."""

    @property
    def mcp(self) -> McpEnvelope:
        """The MCP envelope: intent, stakes, quality, budgets, epistemics, evidence and routing. Required in full on every packet (D29)."""


class AuthorizedScope(Object):
    """Which tools and operations a token allows, and on what (INV-007)."""

    def __new__(cls, *, tool_ids: Sequence[str], operation_types: Sequence[_OperationType], resource_constraints: Mapping[str, Any] | None = ...) -> Self: ...

    @property
    def tool_ids(self) -> tuple[str, ...]:
        """Identifiers of the tools that may be used; at least one."""

    @property
    def operation_types(self) -> tuple[OperationType, ...]:
        """The operations that are allowed; at least one. A WRITE or MIXED directive needs one of `write`, `delete` and `modify` (D26)."""

    @property
    def resource_constraints(self) -> dict[str, Any] | None:
        """Bounds on what may be touched: a free-form object, compared with the `tool_params` of a directive (D27)."""


class BeliefChange(Object):
    """One belief before and after the change."""

    def __new__(cls, *, domain: str, key: str, new_value: Any, prior_value: Any, epistemic_upgrade: bool | None = ...) -> Self: ...

    @property
    def domain(self) -> str:
        """The field that the belief belongs to, for example `market` or `threats`."""

    @property
    def key(self) -> str:
        """The name of the belief within the domain."""

    @property
    def new_value(self) -> Any:
        """What is believed now: any JSON value (D38)."""

    @property
    def prior_value(self) -> Any:
        """What was believed before: any JSON value, `null` if the belief is new. Required even then (D39). Anything else in a `new_belief` update is a CLAIM warning (D80)."""

    @property
    def epistemic_upgrade(self) -> bool | None:
        """True if the evidence for the belief is better than before."""


class BeliefUpdatePacket(Packet):
    """Changes the agent's beliefs. It also closes a verification loop (D9) and an execution (D11)."""

    def __new__(cls, *, header: PacketHeader, mcp: McpEnvelope, payload: BeliefUpdatePayload, **metadata: Any) -> Self: ...

    @property
    def header(self) -> PacketHeader:
        """Identity, time and origin of the packet; its `packet_type` is `BeliefUpdatePacket`."""

    @property
    def mcp(self) -> McpEnvelope:
        """The MCP envelope: intent, stakes, quality, budgets, epistemics, evidence and routing. Required in full on every packet (D29)."""

    @property
    def payload(self) -> BeliefUpdatePayload:
        """Which beliefs change, and why."""


class BeliefUpdatePayload(Object):
    """Which beliefs change, and why."""

    def __new__(cls, *, update_type: _UpdateType, belief_changes: Sequence[BeliefChange], evidence_integration: Sequence[str] | None = ..., contradiction_details: ContradictionDetails | None = ...) -> Self: ...

    @property
    def update_type(self) -> UpdateType:
        """Why the beliefs change."""

    @property
    def belief_changes(self) -> tuple[BeliefChange, ...]:
        """The changes; at least one."""

    @property
    def evidence_integration(self) -> tuple[str, ...] | None:
        """Identifiers of the packets that led to the change. The update that closes a verification loop must name a result or an observation of that loop (INV-008, D22)."""

    @property
    def contradiction_details(self) -> ContradictionDetails | None:
        """What contradicted what. Required if `update_type` is `contradiction_resolved` (D40)."""

    @staticmethod
    def new_belief(*, belief_changes: Sequence[BeliefChange], evidence_integration: Sequence[str] | None = ...) -> BeliefUpdatePayload:
        """Something is believed for the first time."""

    @staticmethod
    def revision(*, belief_changes: Sequence[BeliefChange], evidence_integration: Sequence[str] | None = ...) -> BeliefUpdatePayload:
        """The content of a belief changes."""

    @staticmethod
    def contradiction_resolved(*, belief_changes: Sequence[BeliefChange], contradiction_details: ContradictionDetails, evidence_integration: Sequence[str] | None = ...) -> BeliefUpdatePayload:
        """Two sources disagreed, and one was preferred; the contradiction is described."""

    @staticmethod
    def confidence_adjustment(*, belief_changes: Sequence[BeliefChange], evidence_integration: Sequence[str] | None = ...) -> BeliefUpdatePayload:
        """The content is unchanged; the confidence changes."""

    @staticmethod
    def staleness_refresh(*, belief_changes: Sequence[BeliefChange], evidence_integration: Sequence[str] | None = ...) -> BeliefUpdatePayload:
        """The content is unchanged and confirmed as still current."""


class Budgets(Object):
    """Limits on what an episode may use. Those of its first decision bind and are never raised (INV-005, D32)."""

    def __new__(cls, *, token_budget: Count, tool_call_budget: Count, time_budget_seconds: Count, risk_budget: RiskBudget) -> Self: ...

    @property
    def token_budget(self) -> Count:
        """The maximum number of language-model tokens, at least 0."""

    @property
    def tool_call_budget(self) -> Count:
        """The maximum number of tool calls, at least 0."""

    @property
    def time_budget_seconds(self) -> Count:
        """The maximum wall-clock time in seconds, at least 0. It is also the timeout of a directive without `timeout_seconds` (D35)."""

    @property
    def risk_budget(self) -> RiskBudget:
        """The risk that may be taken. No rule checks it, because no packet reports the risk used (D32)."""


class ChosenOption(Object):
    """The option that was chosen. Every field is optional (D39)."""

    def __new__(cls, *, option_id: str | None = ..., description: str | None = ..., expected_value: RealNumber | None = ..., risk_profile: str | None = ...) -> Self: ...

    @property
    def option_id(self) -> str | None:
        """Identifier of the option."""

    @property
    def description(self) -> str | None:
        """The option in words."""

    @property
    def expected_value(self) -> RealNumber | None:
        """What the option is expected to yield: any number, in a unit that sender and receiver agree on (D39)."""

    @property
    def risk_profile(self) -> str | None:
        """The risks of the option in words."""


class ConstraintsSatisfied(Object):
    """Which checks the chosen outcome passed. Three of them are required (D39)."""

    def __new__(cls, *, constitutional_check: bool, budget_check: bool, tier_check: bool, verification_check: bool | None = ...) -> Self: ...

    @property
    def constitutional_check(self) -> bool:
        """True if layer 1 has no veto. False is an error of INV-006 (D33)."""

    @property
    def budget_check(self) -> bool:
        """True if the outcome is feasible within the budgets. False is an error of INV-006 (D33)."""

    @property
    def tier_check(self) -> bool:
        """True if the quality tier is sufficient for the stakes."""

    @property
    def verification_check(self) -> bool | None:
        """True if the verification requirement is met. If it is not, that is a CLAIM warning on an `ACT` (D80)."""


class ContradictionDetails(Object):
    """Which packets contradicted each other, and how that was resolved. Every field is optional (D39)."""

    def __new__(cls, *, conflicting_packet_ids: Sequence[str] | None = ..., resolution_method: _ResolutionMethod | None = ...) -> Self: ...

    @property
    def conflicting_packet_ids(self) -> tuple[str, ...] | None:
        """Identifiers of the packets that contradict each other."""

    @property
    def resolution_method(self) -> ResolutionMethod | None:
        """How the contradiction was resolved."""


class DecisionPacket(Packet):
    """One decision: verify first, act, escalate, defer or cancel (D5). The first one of an episode sets its budgets (D32)."""

    def __new__(cls, *, header: PacketHeader, mcp: McpEnvelope, payload: DecisionPayload, **metadata: Any) -> Self: ...

    @property
    def header(self) -> PacketHeader:
        """Identity, time and origin of the packet; its `packet_type` is `DecisionPacket`."""

    @property
    def mcp(self) -> McpEnvelope:
        """The MCP envelope: intent, stakes, quality, budgets, epistemics, evidence and routing. Required in full on every packet (D29)."""

    @property
    def payload(self) -> DecisionPayload:
        """What was decided, and why."""


class DecisionPayload(Object):
    """What was decided, and why."""

    def __new__(cls, *, decision_outcome: _DecisionOutcome, decision_summary: Text, constraints_satisfied: ConstraintsSatisfied, chosen_option: ChosenOption | None = ..., rejected_alternatives: Sequence[RejectedAlternative] | None = ..., load_bearing_assumptions: Sequence[LoadBearingAssumption] | None = ..., failure_modes: Sequence[FailureMode] | None = ...) -> Self: ...

    @property
    def decision_outcome(self) -> DecisionOutcome:
        """What was decided; it determines which packet is legal next (D6)."""

    @property
    def decision_summary(self) -> Text:
        """The reasons in words; at least one character. It should name the tradeoff policy: safety, risk-adjusted, min-regret or expected value (INV-006, D33)."""

    @property
    def constraints_satisfied(self) -> ConstraintsSatisfied:
        """Which checks the chosen outcome passed (INV-006)."""

    @property
    def chosen_option(self) -> ChosenOption | None:
        """The option that was chosen."""

    @property
    def rejected_alternatives(self) -> tuple[RejectedAlternative, ...] | None:
        """The options that were rejected; it may be empty."""

    @property
    def load_bearing_assumptions(self) -> tuple[LoadBearingAssumption, ...] | None:
        """The assumptions that the decision depends on. To act at high or critical stakes all of them must be verified (INV-003)."""

    @property
    def failure_modes(self) -> tuple[FailureMode, ...] | None:
        """What can go wrong; it may be empty."""


class DefinitionOfDone(Object):
    """When the work counts as done."""

    def __new__(cls, *, text: Text, checks: Sequence[str]) -> Self: ...

    @property
    def text(self) -> Text:
        """The condition in words; at least one character."""

    @property
    def checks(self) -> tuple[str, ...]:
        """The conditions that a program can check; at least one."""


class Epistemics(Object):
    """How the content of a packet is known, with what confidence, and how soon it becomes stale."""

    def __new__(cls, *, status: _EpistemicStatus, confidence: UnitInterval, calibration_note: Text, freshness_class: _FreshnessClass, assumptions: Sequence[str], stale_if_older_than_seconds: Count | None = ...) -> Self: ...

    @property
    def status(self) -> EpistemicStatus:
        """How the content is known."""

    @property
    def confidence(self) -> UnitInterval:
        """Calibrated confidence in the content, from 0 (none) to 1 (certain)."""

    @property
    def calibration_note(self) -> Text:
        """Why the confidence is what it is; at least one character."""

    @property
    def freshness_class(self) -> FreshnessClass:
        """How soon the content becomes stale."""

    @property
    def stale_if_older_than_seconds(self) -> Count | None:
        """Age in seconds, at least 0, beyond which evidence is stale. Older evidence is an INV-004 warning (D31, D79). If it is absent, the freshness class decides where that rule requires live evidence (D66)."""

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is taken for granted; it may be empty."""


class ErrorDetails(Object):
    """What went wrong. Every field is optional (D39)."""

    def __new__(cls, *, error_code: str | None = ..., error_message: str | None = ..., is_transient: bool | None = ..., retry_recommended: bool | None = ...) -> Self: ...

    @property
    def error_code(self) -> str | None:
        """Code of the error."""

    @property
    def error_message(self) -> str | None:
        """The error in words."""

    @property
    def is_transient(self) -> bool | None:
        """True if the cause is likely to pass."""

    @property
    def retry_recommended(self) -> bool | None:
        """True if another attempt is advisable."""


class EscalationOption(Object):
    """One option to choose from. All fields except `risk_summary` are required (D39)."""

    def __new__(cls, *, option_id: str, description: str, pros: Sequence[str], cons: Sequence[str], risk_summary: str | None = ...) -> Self: ...

    @property
    def option_id(self) -> str:
        """Identifier of the option."""

    @property
    def description(self) -> str:
        """The option in words."""

    @property
    def pros(self) -> tuple[str, ...]:
        """Its advantages; it may be empty."""

    @property
    def cons(self) -> tuple[str, ...]:
        """Its disadvantages; it may be empty."""

    @property
    def risk_summary(self) -> str | None:
        """Its risks in words (D39)."""


class EscalationPacket(Packet):
    """Hands a decision to a human or to layer 1, with options to choose from (E5, INV-009). User input ends the escalation (D8)."""

    def __new__(cls, *, header: PacketHeader, mcp: McpEnvelope, payload: EscalationPayload, **metadata: Any) -> Self: ...

    @property
    def header(self) -> PacketHeader:
        """Identity, time and origin of the packet; its `packet_type` is `EscalationPacket`."""

    @property
    def mcp(self) -> McpEnvelope:
        """The MCP envelope: intent, stakes, quality, budgets, epistemics, evidence and routing. Required in full on every packet (D29)."""

    @property
    def payload(self) -> EscalationPayload:
        """Why the decision is handed over, and what there is to choose from."""


class EscalationPayload(Object):
    """Why a decision is handed over, and what there is to choose from (E5, INV-009)."""

    def __new__(cls, *, escalation_trigger: _EscalationTrigger, top_options: Sequence[EscalationOption], evidence_gaps: Sequence[EvidenceGap], recommended_next_step: NextStep, blocking_decision_packet_id: PacketId | None = ...) -> Self: ...

    @property
    def escalation_trigger(self) -> EscalationTrigger:
        """Why the decision is handed over. `budget_insufficient` also approves a budget overrun (D32)."""

    @property
    def top_options(self) -> tuple[EscalationOption, ...]:
        """The best options; two or three of them (E5, INV-009)."""

    @property
    def evidence_gaps(self) -> tuple[EvidenceGap, ...]:
        """What is unknown; at least one gap (E5, INV-009)."""

    @property
    def recommended_next_step(self) -> NextStep:
        """What the agent recommends to do next (E5, INV-009)."""

    @property
    def blocking_decision_packet_id(self) -> PacketId | None:
        """The decision that is blocked until there is an answer."""


class EstimatedCost(Object):
    """What a step is likely to cost. Every field is an optional integer (D39)."""

    def __new__(cls, *, time_seconds: Count | None = ..., tokens: Count | None = ..., tool_calls: Count | None = ...) -> Self: ...

    @property
    def time_seconds(self) -> Count | None:
        """Time in seconds, at least 0 (D39)."""

    @property
    def tokens(self) -> Count | None:
        """Language-model tokens, at least 0 (D39)."""

    @property
    def tool_calls(self) -> Count | None:
        """Tool calls, at least 0 (D39)."""


class Evidence(Object):
    """What the content of a packet rests on."""

    def __new__(cls, *, evidence_refs: Sequence[EvidenceRef], evidence_absent_reason: str | None = ...) -> Self: ...

    @property
    def evidence_refs(self) -> tuple[EvidenceRef, ...]:
        """The pieces of evidence. If there are none, `evidence_absent_reason` must give the reason (D29)."""

    @property
    def evidence_absent_reason(self) -> str | None:
        """Why there is no evidence. Required, and not empty, if `evidence_refs` is empty (D29); otherwise it may be absent or `null`."""

    @staticmethod
    def absent(*, evidence_absent_reason: str) -> Evidence:
        """No evidence, with the reason why there is none."""

    @staticmethod
    def present(*, evidence_refs: Sequence[EvidenceRef]) -> Evidence:
        """At least one piece of evidence."""


class EvidenceGap(Object):
    """Something that is unknown."""

    def __new__(cls, *, gap: str, impact_if_unknown: str, verification_method: str | None = ...) -> Self: ...

    @property
    def gap(self) -> str:
        """What is unknown."""

    @property
    def impact_if_unknown(self) -> str:
        """The consequence if it stays unknown."""

    @property
    def verification_method(self) -> str | None:
        """How it could be found out."""


class EvidenceRef(Object):
    """One piece of evidence."""

    def __new__(cls, *, ref_type: _RefType, ref_id: Text, timestamp: Timestamp, reliability_score: UnitInterval | None = ...) -> Self: ...

    @property
    def ref_type(self) -> RefType:
        """The kind of evidence."""

    @property
    def ref_id(self) -> Text:
        """Its URI or identifier; at least one character."""

    @property
    def timestamp(self) -> Timestamp:
        """When the evidence was taken; its age is counted from here (D31)."""

    @property
    def reliability_score(self) -> UnitInterval | None:
        """How far the source can be relied on, from 0 (not at all) to 1 (fully)."""


class ExecutionMetadata(Object):
    """What a task used up. Every field is optional (D39)."""

    def __new__(cls, *, execution_time_ms: NonNegativeNumber | None = ..., tokens_used: Count | None = ..., tool_calls_used: Count | None = ..., retry_count: Count | None = ...) -> Self: ...

    @property
    def execution_time_ms(self) -> NonNegativeNumber | None:
        """How long the task ran, in milliseconds, at least 0, not necessarily an integer (D39)."""

    @property
    def tokens_used(self) -> Count | None:
        """Language-model tokens used, at least 0. Counts as 0 if absent (D32)."""

    @property
    def tool_calls_used(self) -> Count | None:
        """Tool calls made, at least 0. Counts as 1 if absent (D32)."""

    @property
    def retry_count(self) -> Count | None:
        """Retries after the first attempt, at least 0 (D39), and at most `max_retries` of the directive (D80)."""


class ExecutionMethod(Object):
    """How a task is carried out. Only `method` is always required (D39)."""

    def __new__(cls, *, method: _MethodKind, tool_id: str | None = ..., tool_params: Mapping[str, Any] | None = ..., code_ref: str | None = ..., code_params: Mapping[str, Any] | None = ...) -> Self: ...

    @property
    def method(self) -> MethodKind:
        """How the task is carried out. WRITE and MIXED directives need a `tool_id` (D28)."""

    @property
    def tool_id(self) -> str | None:
        """Identifier of the tool. Required if `method` is `tool` (D40)."""

    @property
    def tool_params(self) -> dict[str, Any] | None:
        """The arguments of the tool: a free-form object. A field `operation` is checked against the operations of the token (D26), and all fields against its `resource_constraints` (D27)."""

    @property
    def code_ref(self) -> str | None:
        """Reference to the code to run. Required if `method` is `code` (D40)."""

    @property
    def code_params(self) -> dict[str, Any] | None:
        """The arguments of the code: a free-form object (D38)."""

    @staticmethod
    def tool(*, tool_id: str, tool_params: Mapping[str, Any] | None = ...) -> ExecutionMethod:
        """A tool is called by its id."""

    @staticmethod
    def code(*, code_ref: str, tool_id: str | None = ..., tool_params: Mapping[str, Any] | None = ..., code_params: Mapping[str, Any] | None = ...) -> ExecutionMethod:
        """Code is run by reference. If it changes things, `tool_id` names the tool whose permission covers it (D28)."""

    @staticmethod
    def llm_call(*, tool_id: str | None = ..., tool_params: Mapping[str, Any] | None = ...) -> ExecutionMethod:
        """A language model is called."""

    @staticmethod
    def memory_query(*, tool_id: str | None = ..., tool_params: Mapping[str, Any] | None = ...) -> ExecutionMethod:
        """The agent's memory is queried."""


class FailureMode(Object):
    """A way in which the decision can go wrong. Every field is optional (D39)."""

    def __new__(cls, *, mode: str | None = ..., mitigation: str | None = ...) -> Self: ...

    @property
    def mode(self) -> str | None:
        """What goes wrong."""

    @property
    def mitigation(self) -> str | None:
        """What is done about it."""


class IntegrityAlertPacket(Packet):
    """Reports an anomaly. By its severity it can start safe mode or end it (D13, D14), and it can revoke tokens (D25)."""

    def __new__(cls, *, header: PacketHeader, mcp: McpEnvelope, payload: IntegrityAlertPayload, **metadata: Any) -> Self: ...

    @property
    def header(self) -> PacketHeader:
        """Identity, time and origin of the packet; its `packet_type` is `IntegrityAlertPacket`."""

    @property
    def mcp(self) -> McpEnvelope:
        """The MCP envelope: intent, stakes, quality, budgets, epistemics, evidence and routing. Required in full on every packet (D29)."""

    @property
    def payload(self) -> IntegrityAlertPayload:
        """What is wrong, how severe it is, and which tokens are revoked (D44)."""


class IntegrityAlertPayload(Object):
    """What is wrong, how severe it is, and which tokens are revoked (D44)."""

    def __new__(cls, *, alert_type: _AlertType, severity: _AlertSeverity, summary: Text, rationale: Text | None = ..., revoked_token_ids: Sequence[TokenId] | None = ..., related_packet_ids: Sequence[PacketId] | None = ...) -> Self: ...

    @property
    def alert_type(self) -> AlertType:
        """What is wrong."""

    @property
    def severity(self) -> AlertSeverity:
        """How severe it is; this alone determines whether the state changes (D14)."""

    @property
    def summary(self) -> Text:
        """The alert in words; at least one character."""

    @property
    def rationale(self) -> Text | None:
        """The reasons; at least one character. From layer 1 the words \"budget override\" approve an overrun (D32)."""

    @property
    def revoked_token_ids(self) -> tuple[TokenId, ...] | None:
        """Tokens that are revoked from the next packet on, including tokens first seen later (D25)."""

    @property
    def related_packet_ids(self) -> tuple[PacketId, ...] | None:
        """The packets that the alert is about."""


class Intent(Object):
    """What a packet is for."""

    def __new__(cls, *, summary: Text, scope: ScopeText | Mapping[str, Any]) -> Self: ...

    @property
    def summary(self) -> Text:
        """The intent in brief; at least one character."""

    @property
    def scope(self) -> ScopeText | dict[str, Any]:
        """The bounds within which the intent holds: text, or a free-form object."""


class LoadBearingAssumption(Object):
    """An assumption that a decision depends on."""

    def __new__(cls, *, assumption: str, verified: bool, verification_packet_id: str | None = ...) -> Self: ...

    @property
    def assumption(self) -> str:
        """The assumption in words."""

    @property
    def verified(self) -> bool:
        """True if it was verified. At high or critical stakes an unverified one rules out ACT (INV-003)."""

    @property
    def verification_packet_id(self) -> str | None:
        """Identifier of the packet that verified it; plain text without a pattern (D39)."""


class McpEnvelope(Object):
    """The MCP envelope: why a packet is sent, what is at stake, and what its claims rest on. Required in full on every packet (D29). It has nothing to do with the Model Context Protocol."""

    def __new__(cls, *, intent: Intent, stakes: Stakes, quality: Quality, budgets: Budgets, epistemics: Epistemics, evidence: Evidence, routing: Routing) -> Self: ...

    @property
    def intent(self) -> Intent:
        """What the packet is for, and how far it reaches."""

    @property
    def stakes(self) -> Stakes:
        """What is at stake, along four axes, and the level that follows."""

    @property
    def quality(self) -> Quality:
        """How good the work must be, and when it is done."""

    @property
    def budgets(self) -> Budgets:
        """Limits on tokens, tool calls, time and risk. Those of the first decision bind the whole episode (D32)."""

    @property
    def epistemics(self) -> Epistemics:
        """How the content of the packet is known, with what confidence, and how soon it becomes stale."""

    @property
    def evidence(self) -> Evidence:
        """What the content rests on, or why there is no evidence."""

    @property
    def routing(self) -> Routing:
        """The kind of task, and whether the tools work."""


class NextStep(Object):
    """What the agent recommends to do next."""

    def __new__(cls, *, step: str, rationale: str, estimated_cost: EstimatedCost | None = ...) -> Self: ...

    @property
    def step(self) -> str:
        """The step in words."""

    @property
    def rationale(self) -> str:
        """Why this step is recommended."""

    @property
    def estimated_cost(self) -> EstimatedCost | None:
        """What the step is likely to cost."""


class ObservationPacket(Packet):
    """Reports an observation: tool output, user input, telemetry. It starts an episode and opens each new cycle (D12)."""

    def __new__(cls, *, header: PacketHeader, mcp: McpEnvelope, payload: ObservationPayload, **metadata: Any) -> Self: ...

    @property
    def header(self) -> PacketHeader:
        """Identity, time and origin of the packet; its `packet_type` is `ObservationPacket`."""

    @property
    def mcp(self) -> McpEnvelope:
        """The MCP envelope: intent, stakes, quality, budgets, epistemics, evidence and routing. Required in full on every packet (D29)."""

    @property
    def payload(self) -> ObservationPayload:
        """What was observed, and where it came from."""


class ObservationPayload(Object):
    """What was observed, and where it came from."""

    def __new__(cls, *, observation_type: _ObservationType, data: Mapping[str, Any], source_tool: str | None = ..., query_params: Mapping[str, Any] | None = ..., reliability_metadata: ReliabilityMetadata | None = ...) -> Self: ...

    @property
    def observation_type(self) -> ObservationType:
        """The kind of observation. Only `user_input` ends an escalation (D8)."""

    @property
    def data(self) -> dict[str, Any]:
        """The observation itself, raw or normalized: a free-form object with at least one field (D38)."""

    @property
    def source_tool(self) -> str | None:
        """Identifier of the tool that produced it, if a tool did."""

    @property
    def query_params(self) -> dict[str, Any] | None:
        """The parameters that were used to get it: a free-form object (D38)."""

    @property
    def reliability_metadata(self) -> ReliabilityMetadata | None:
        """How reliable the observation is; every field is optional (D39)."""


class PacketHeader(Object):
    """Identity, time and origin of a packet."""

    def __new__(cls, *, packet_id: PacketId, packet_type: _PacketType, created_at: Timestamp, layer_source: LayerNumber | _IntegrityLayer, correlation_id: CorrelationId, campaign_id: CampaignId | None = ..., previous_packet_id: PacketId | None = ...) -> Self: ...

    @property
    def packet_id(self) -> PacketId:
        """Identifier of this packet. A repeated identifier within the episode is an error with code `ID` (D21)."""

    @property
    def packet_type(self) -> PacketType:
        """Type of this packet; it determines the schema of `payload`."""

    @property
    def created_at(self) -> Timestamp:
        """When the packet was made. The latest accepted one is the clock of the episode (D2)."""

    @property
    def layer_source(self) -> LayerNumber | IntegrityLayer:
        """The layer that the packet comes from: 1 (constitution) to 5 (decisions) and 6 (execution), or the overlay `Integrity`."""

    @property
    def correlation_id(self) -> CorrelationId:
        """The episode that the packet belongs to."""

    @property
    def campaign_id(self) -> CampaignId | None:
        """The campaign that the episode belongs to, if any."""

    @property
    def previous_packet_id(self) -> PacketId | None:
        """The packet that this one follows, if the sender links its packets explicitly."""


class Quality(Object):
    """How good the work must be, and when it is done."""

    def __new__(cls, *, quality_tier: _QualityTier, satisficing_mode: bool, definition_of_done: DefinitionOfDone, verification_requirement: _VerificationRequirement) -> Self: ...

    @property
    def quality_tier(self) -> QualityTier:
        """How carefully the content was worked out."""

    @property
    def satisficing_mode(self) -> bool:
        """True if speed is more important than completeness."""

    @property
    def definition_of_done(self) -> DefinitionOfDone:
        """When the work counts as done."""

    @property
    def verification_requirement(self) -> VerificationRequirement:
        """How many of the load-bearing assumptions must be verified."""


class QueueItem(Object):
    """One item of a queue (D45)."""

    def __new__(cls, *, item_id: Text, priority: Count | None = ..., reason: str | None = ...) -> Self: ...

    @property
    def item_id(self) -> Text:
        """Identifier of the item; at least one character."""

    @property
    def priority(self) -> Count | None:
        """Its priority, an integer of at least 0."""

    @property
    def reason(self) -> str | None:
        """Why the item is added, removed or moved."""


class QueueUpdatePacket(Packet):
    """Changes a work queue. It has a schema but no transition, so it is illegal in every state (D16)."""

    def __new__(cls, *, header: PacketHeader, mcp: McpEnvelope, payload: QueueUpdatePayload, **metadata: Any) -> Self: ...

    @property
    def header(self) -> PacketHeader:
        """Identity, time and origin of the packet; its `packet_type` is `QueueUpdatePacket`."""

    @property
    def mcp(self) -> McpEnvelope:
        """The MCP envelope: intent, stakes, quality, budgets, epistemics, evidence and routing. Required in full on every packet (D29)."""

    @property
    def payload(self) -> QueueUpdatePayload:
        """What happens to which items of the queue (D45)."""


class QueueUpdatePayload(Object):
    """What happens to which items of the queue (D45)."""

    def __new__(cls, *, queue_action: _QueueAction, items: Sequence[QueueItem]) -> Self: ...

    @property
    def queue_action(self) -> QueueAction:
        """What happens to the items."""

    @property
    def items(self) -> tuple[QueueItem, ...]:
        """The items; at least one."""


class RejectedAlternative(Object):
    """An option that was rejected. Every field is optional (D39)."""

    def __new__(cls, *, option_id: str | None = ..., rejection_reason: str | None = ...) -> Self: ...

    @property
    def option_id(self) -> str | None:
        """Identifier of the option."""

    @property
    def rejection_reason(self) -> str | None:
        """Why it was rejected."""


class ReliabilityMetadata(Object):
    """How reliable an observation is. Every field is optional (D39)."""

    def __new__(cls, *, tool_success: bool | None = ..., latency_ms: NonNegativeNumber | None = ..., partial_result: bool | None = ...) -> Self: ...

    @property
    def tool_success(self) -> bool | None:
        """True if the tool reported success."""

    @property
    def latency_ms(self) -> NonNegativeNumber | None:
        """How long the observation took, in milliseconds, at least 0, not necessarily an integer (D39)."""

    @property
    def partial_result(self) -> bool | None:
        """True if only part of the answer came back."""


class RetryPolicy(Object):
    """How failed attempts are retried. Every field is optional (D39)."""

    def __new__(cls, *, max_retries: Count | None = ..., backoff_multiplier: BackoffFactor | None = ...) -> Self: ...

    @property
    def max_retries(self) -> Count | None:
        """The maximum number of retries after the first attempt, at least 0 (D39). A result that reports more is a CLAIM warning (D80)."""

    @property
    def backoff_multiplier(self) -> BackoffFactor | None:
        """The factor by which the wait between attempts grows, at least 1 (D39)."""


class RiskBudget(Object):
    """The risk that may be taken; no rule can check it (D32)."""

    def __new__(cls, *, envelope: str, max_loss: LossText | LossAmount) -> Self: ...

    @property
    def envelope(self) -> str:
        """The attitude to risk in a word or two, for example `conservative`."""

    @property
    def max_loss(self) -> LossText | LossAmount:
        """The greatest acceptable loss, in words or as a number."""


class Routing(Object):
    """The kind of task a packet belongs to, and whether the tools work."""

    def __new__(cls, *, task_class: _TaskClass, tools_state: _ToolsState) -> Self: ...

    @property
    def task_class(self) -> TaskClass:
        """The kind of task."""

    @property
    def tools_state(self) -> ToolsState:
        """Whether the tools work."""


class Stakes(Object):
    """What is at stake, split into four axes and one overall level."""

    def __new__(cls, *, impact: _Impact, irreversibility: _Irreversibility, uncertainty: _Uncertainty, adversariality: _Adversariality, stakes_level: _StakesLevel) -> Self: ...

    @property
    def impact(self) -> Impact:
        """How much damage a mistake would do."""

    @property
    def irreversibility(self) -> Irreversibility:
        """How far the effect can be undone."""

    @property
    def uncertainty(self) -> Uncertainty:
        """How much about the situation is unknown."""

    @property
    def adversariality(self) -> Adversariality:
        """Whether others work against the agent."""

    @property
    def stakes_level(self) -> StakesLevel:
        """The overall level. It must fit the four axes; otherwise INV-012 warns (D36)."""


class TaskDirectivePacket(Packet):
    """Orders one task. It stays open until a `TaskResultPacket` names it (E6, D20)."""

    def __new__(cls, *, header: PacketHeader, mcp: McpEnvelope, payload: TaskDirectivePayload, **metadata: Any) -> Self: ...

    @property
    def header(self) -> PacketHeader:
        """Identity, time and origin of the packet; its `packet_type` is `TaskDirectivePacket`."""

    @property
    def mcp(self) -> McpEnvelope:
        """The MCP envelope: intent, stakes, quality, budgets, epistemics, evidence and routing. Required in full on every packet (D29)."""

    @property
    def payload(self) -> TaskDirectivePayload:
        """Which task is to be done, how, and with which permission."""


class TaskDirectivePayload(Object):
    """Which task is to be done, how, and with which permission."""

    def __new__(cls, *, task_id: TaskId, task_type: _TaskType, execution_method: ExecutionMethod, tool_safety_class: _ToolSafetyClass | None = ..., authorization_token_id: TokenId | None = ..., timeout_seconds: PositiveCount | None = ..., retry_policy: RetryPolicy | None = ...) -> Self: ...

    @property
    def task_id(self) -> TaskId:
        """Identifier of the task, unique among the directives of the episode (D21)."""

    @property
    def task_type(self) -> TaskType:
        """The kind of task. `tool_write` always counts as WRITE (D23)."""

    @property
    def execution_method(self) -> ExecutionMethod:
        """How the task is carried out."""

    @property
    def tool_safety_class(self) -> ToolSafetyClass | None:
        """Whether the task only reads or also changes things. If absent, tools and code count as WRITE (D23). `READ` counts as WRITE if the `operation` of `tool_params` writes (D88)."""

    @property
    def authorization_token_id(self) -> TokenId | None:
        """The token that permits the task. Required if `tool_safety_class` is `WRITE` or `MIXED` (D40)."""

    @property
    def timeout_seconds(self) -> PositiveCount | None:
        """How long the task may stay open, in seconds, at least 1. If absent, `time_budget_seconds` of the envelope applies (D35)."""

    @property
    def retry_policy(self) -> RetryPolicy | None:
        """How failed attempts are retried."""

    @staticmethod
    def read(*, task_id: TaskId, task_type: Literal[TaskType.TOOL_READ, TaskType.COMPUTATION, TaskType.VERIFICATION, TaskType.MEMORY_LOOKUP, "tool_read", "computation", "verification", "memory_lookup"], execution_method: ExecutionMethod, timeout_seconds: PositiveCount | None = ..., retry_policy: RetryPolicy | None = ...) -> TaskDirectivePayload:
        """A task that only reads. It needs no token."""

    @staticmethod
    def write(*, task_id: TaskId, task_type: _TaskType, execution_method: ExecutionMethod, authorization_token_id: TokenId, timeout_seconds: PositiveCount | None = ..., retry_policy: RetryPolicy | None = ...) -> TaskDirectivePayload:
        """A task that changes things. It names the token that permits it."""

    @staticmethod
    def mixed(*, task_id: TaskId, task_type: _TaskType, execution_method: ExecutionMethod, authorization_token_id: TokenId, timeout_seconds: PositiveCount | None = ..., retry_policy: RetryPolicy | None = ...) -> TaskDirectivePayload:
        """A task that reads and changes things. It names the token that permits it (D17)."""

    @staticmethod
    def unclassified(*, task_id: TaskId, task_type: _TaskType, execution_method: ExecutionMethod, authorization_token_id: TokenId | None = ..., timeout_seconds: PositiveCount | None = ..., retry_policy: RetryPolicy | None = ...) -> TaskDirectivePayload:
        """A task without a safety class; type and method determine whether it counts as WRITE (D23)."""


class TaskResultPacket(Packet):
    """Reports how a task ended, and closes its directive. It must name an open directive; otherwise it breaks E6 (D20)."""

    def __new__(cls, *, header: PacketHeader, mcp: McpEnvelope, payload: TaskResultPayload, **metadata: Any) -> Self: ...

    @property
    def header(self) -> PacketHeader:
        """Identity, time and origin of the packet; its `packet_type` is `TaskResultPacket`."""

    @property
    def mcp(self) -> McpEnvelope:
        """The MCP envelope: intent, stakes, quality, budgets, epistemics, evidence and routing. Required in full on every packet (D29)."""

    @property
    def payload(self) -> TaskResultPayload:
        """How the task ended, and what it produced."""


class TaskResultPayload(Object):
    """How a task ended, and what it produced."""

    def __new__(cls, *, task_id: TaskId, directive_packet_id: PacketId, result_status: _ResultStatus, result_data: Any = ..., error_details: ErrorDetails | None = ..., execution_metadata: ExecutionMetadata | None = ..., observation_packet_id: str | None = ...) -> Self: ...

    @property
    def task_id(self) -> TaskId:
        """The task that ended; the same as in its directive (D20)."""

    @property
    def directive_packet_id(self) -> PacketId:
        """The packet that ordered the task; it must still be open (D20)."""

    @property
    def result_status(self) -> ResultStatus:
        """How the task ended."""

    @property
    def result_data(self) -> Any | None:
        """What the task produced: any JSON value, `null` if it failed or was cancelled (D38); otherwise it is a CLAIM warning (D80)."""

    @property
    def error_details(self) -> ErrorDetails | None:
        """What went wrong. Required if `result_status` is `FAILURE` (D40)."""

    @property
    def execution_metadata(self) -> ExecutionMetadata | None:
        """What the task used up; it is counted against the budgets (INV-005, D32)."""

    @property
    def observation_packet_id(self) -> str | None:
        """Identifier of the observation made from this result, if there is one; plain text without a pattern (D39)."""

    @staticmethod
    def success(*, task_id: TaskId, directive_packet_id: PacketId, result_data: Any = ..., execution_metadata: ExecutionMetadata | None = ..., observation_packet_id: str | None = ...) -> TaskResultPayload:
        """The task did what was ordered."""

    @staticmethod
    def failure(*, task_id: TaskId, directive_packet_id: PacketId, error_details: ErrorDetails, result_data: Any = ..., execution_metadata: ExecutionMetadata | None = ..., observation_packet_id: str | None = ...) -> TaskResultPayload:
        """The task failed, and its error is described."""

    @staticmethod
    def cancelled(*, task_id: TaskId, directive_packet_id: PacketId, result_data: Any = ..., error_details: ErrorDetails | None = ..., execution_metadata: ExecutionMetadata | None = ..., observation_packet_id: str | None = ...) -> TaskResultPayload:
        """The task was cancelled; `error_details` may give the reason."""


class ToolAuthorizationPayload(Object):
    """What a token allows, how often and until when. Sent again, a token can narrow its grant but never widen it (D24)."""

    def __new__(cls, *, token_id: TokenId, authorized_scope: AuthorizedScope, expiry: Timestamp, max_usage_count: PositiveCount, issuer_layer: LayerNumber | _IntegrityLayer, usage_count: Count | None = ..., revoked: bool | None = ..., rationale: Text | None = ...) -> Self: ...

    @property
    def token_id(self) -> TokenId:
        """Identifier of the token; directives refer to it as `authorization_token_id`."""

    @property
    def authorized_scope(self) -> AuthorizedScope:
        """Which tools and operations are allowed, and on what."""

    @property
    def expiry(self) -> Timestamp:
        """When the token expires. At this instant it is already expired (D3)."""

    @property
    def max_usage_count(self) -> PositiveCount:
        """How many directives the token authorizes, at least 1."""

    @property
    def issuer_layer(self) -> LayerNumber | IntegrityLayer:
        """The layer, from 1 to 6, or the Integrity overlay that issues the token."""

    @property
    def usage_count(self) -> Count | None:
        """How many uses are already spent, 0 if absent. The higher of this and the validator's own count applies (D24)."""

    @property
    def revoked(self) -> bool | None:
        """True if the token is revoked, false if absent. A revocation is final (D24, D25)."""

    @property
    def rationale(self) -> Text | None:
        """Why the token is issued, for the audit trail; at least one character. From layer 1 the words \"budget override\" approve an overrun (D32)."""


class ToolAuthorizationToken(Packet):
    """Grants a limited right to use tools that change things. Every WRITE or MIXED directive needs a live one (E4, INV-007)."""

    def __new__(cls, *, header: PacketHeader, mcp: McpEnvelope, payload: ToolAuthorizationPayload, **metadata: Any) -> Self: ...

    @property
    def header(self) -> PacketHeader:
        """Identity, time and origin of the packet; its `packet_type` is `ToolAuthorizationToken`."""

    @property
    def mcp(self) -> McpEnvelope:
        """The MCP envelope: intent, stakes, quality, budgets, epistemics, evidence and routing. Required in full on every packet (D29)."""

    @property
    def payload(self) -> ToolAuthorizationPayload:
        """What is allowed, how often and until when."""


class VerificationPlanPacket(Packet):
    """Lists the assumptions that a verification loop tests, and how. It must come before the loop's first directive (E3, D22)."""

    def __new__(cls, *, header: PacketHeader, mcp: McpEnvelope, payload: VerificationPlanPayload, **metadata: Any) -> Self: ...

    @property
    def header(self) -> PacketHeader:
        """Identity, time and origin of the packet; its `packet_type` is `VerificationPlanPacket`."""

    @property
    def mcp(self) -> McpEnvelope:
        """The MCP envelope: intent, stakes, quality, budgets, epistemics, evidence and routing. Required in full on every packet (D29)."""

    @property
    def payload(self) -> VerificationPlanPayload:
        """Which assumptions are tested, how, and within which limits (D43)."""


class VerificationPlanPayload(Object):
    """Which assumptions are tested, how, and within which limits (D43)."""

    def __new__(cls, *, decision_packet_id: PacketId, targets: Sequence[VerificationTarget], max_tool_calls: Count | None = ..., time_budget_seconds: PositiveCount | None = ..., on_failure: _OnFailure | None = ...) -> Self: ...

    @property
    def decision_packet_id(self) -> PacketId:
        """The `VERIFY_FIRST` decision that the plan serves."""

    @property
    def targets(self) -> tuple[VerificationTarget, ...]:
        """What to verify; at least one target."""

    @property
    def max_tool_calls(self) -> Count | None:
        """The maximum number of results in the loop, at least 0; more are an INV-008 warning (D82)."""

    @property
    def time_budget_seconds(self) -> PositiveCount | None:
        """The maximum time from the plan to the end of the loop in seconds, at least 1; more is an INV-008 warning (D82)."""

    @property
    def on_failure(self) -> OnFailure | None:
        """What to do if the verification fails."""


class VerificationTarget(Object):
    """One assumption, and how to test it (D43)."""

    def __new__(cls, *, assumption: Text, method: _VerificationMethod, success_criteria: Text, tool_id: str | None = ...) -> Self: ...

    @property
    def assumption(self) -> Text:
        """The assumption in words; at least one character."""

    @property
    def method(self) -> VerificationMethod:
        """How it is tested."""

    @property
    def success_criteria(self) -> Text:
        """What must be found for the assumption to hold; at least one character."""

    @property
    def tool_id(self) -> str | None:
        """Identifier of the tool to use, if `method` is `tool`. Not required even then (D43)."""
