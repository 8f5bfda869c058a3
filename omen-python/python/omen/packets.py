"""Packets of the protocol, and their parts. Generated from the schema by `cargo xtask docs`."""

from __future__ import annotations

from omen._core import Branch, Object
from omen._enums import TextEnum

BackoffFactor = float
CampaignId = str
CorrelationId = str
Count = int
LayerNumber = int
LossAmount = float
LossText = str
NonNegativeNumber = float
PacketId = str
PositiveCount = int
RealNumber = float
ScopeText = str
TaskId = str
Text = str
Timestamp = str
TokenId = str
UnitInterval = float


class Adversariality(TextEnum):
    """Whether others work against the agent."""

    BENIGN = "BENIGN"
    """Nobody works against the agent. Ranks low (D36)."""

    CONTESTED = "CONTESTED"
    """Others compete with the agent. Ranks medium (D36)."""

    HOSTILE = "HOSTILE"
    """Others try to do harm. Ranks high (D36)."""


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


class IntegrityLayer(TextEnum):
    """The one origin that is not a numbered layer."""

    INTEGRITY = "Integrity"
    """The Integrity overlay, which monitors all layers; only it and layer 1 may clear safe mode (D13)."""


class Irreversibility(TextEnum):
    """How far an effect can be undone."""

    REVERSIBLE = "REVERSIBLE"
    """It can be undone. Ranks low (D36)."""

    PARTIAL = "PARTIAL"
    """It can be undone in part. Ranks medium (D36)."""

    IRREVERSIBLE = "IRREVERSIBLE"
    """It cannot be undone. Ranks high (D36)."""


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


class QualityTier(TextEnum):
    """How carefully a packet's content was worked out."""

    SUBPAR = "SUBPAR"
    """Speculative; it never authorizes an action (INV-002)."""

    PAR = "PAR"
    """Ordinary care: one load-bearing assumption is verified."""

    SUPERB = "SUPERB"
    """Highest care: all load-bearing assumptions are verified. Needed to act at high or critical stakes (INV-003)."""


class QueueAction(TextEnum):
    """What happens to the items of a queue (D45)."""

    ENQUEUE = "enqueue"
    """The items are added."""

    DEQUEUE = "dequeue"
    """The items are removed."""

    REPRIORITIZE = "reprioritize"
    """The items get another priority."""


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


class ResultStatus(TextEnum):
    """How a task ended."""

    SUCCESS = "SUCCESS"
    """It did what was ordered."""

    FAILURE = "FAILURE"
    """It failed; `error_details` is required (D40)."""

    CANCELLED = "CANCELLED"
    """It was cancelled."""


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


class ToolSafetyClass(TextEnum):
    """Whether a task only reads or also changes things."""

    READ = "READ"
    """It only reads; no token is needed."""

    WRITE = "WRITE"
    """It changes things; a live token is needed (E4, INV-007)."""

    MIXED = "MIXED"
    """It reads and changes things; counts as WRITE in every rule (D17)."""


class ToolsState(TextEnum):
    """Whether the tools work."""

    TOOLS_OK = "tools_ok"
    """All tools work; a verification loop needs a successful result (INV-008)."""

    TOOLS_PARTIAL = "tools_partial"
    """Some tools fail. At medium stakes the uncertainty should be stated as `HIGH`, else INV-010 warns (D34)."""

    TOOLS_DOWN = "tools_down"
    """No tool works. At high or critical stakes a decision can only escalate or cancel (INV-010, D34)."""


class Uncertainty(TextEnum):
    """How much about the situation is unknown."""

    LOW = "LOW"
    """The situation is well known. Ranks low (D36)."""

    MEDIUM = "MEDIUM"
    """Some of it is unknown. Ranks medium (D36)."""

    HIGH = "HIGH"
    """Much of it is unknown. Ranks high (D36)."""


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


class VerificationRequirement(TextEnum):
    """How many of the load-bearing assumptions must be verified."""

    OPTIONAL = "OPTIONAL"
    """None need to be verified."""

    VERIFY_ONE = "VERIFY_ONE"
    """At least one must be verified."""

    VERIFY_ALL = "VERIFY_ALL"
    """All must be verified."""


class Packet(Object):
    """Any packet of the protocol. The field `packet_type` of its header identifies which of the ten types it is."""

    __slots__ = ()


class AuthorizedScope(Object):
    """Which tools and operations a token allows, and on what (INV-007)."""

    __slots__ = ()


class BeliefChange(Object):
    """One belief before and after the change."""

    __slots__ = ()


class BeliefUpdatePacket(Packet):
    """Changes the agent's beliefs. It also closes a verification loop (D9) and an execution (D11)."""

    __slots__ = ()


class BeliefUpdatePayload(Object):
    """Which beliefs change, and why."""

    __slots__ = ()

    new_belief = Branch(
        "BeliefUpdatePayload.new_belief", "update_type", case="value", value="new_belief",
        doc="Something is believed for the first time.",
        leaves_out={
            "contradiction_details": "a belief update of this type resolves no contradiction; begin with `contradiction_resolved()`",
        },
    )

    revision = Branch(
        "BeliefUpdatePayload.revision", "update_type", case="value", value="revision",
        doc="The content of a belief changes.",
        leaves_out={
            "contradiction_details": "a belief update of this type resolves no contradiction; begin with `contradiction_resolved()`",
        },
    )

    contradiction_resolved = Branch(
        "BeliefUpdatePayload.contradiction_resolved", "update_type", case="value", value="contradiction_resolved",
        doc="Two sources disagreed, and one was preferred; the contradiction is described.",
    )

    confidence_adjustment = Branch(
        "BeliefUpdatePayload.confidence_adjustment", "update_type", case="value", value="confidence_adjustment",
        doc="The content is unchanged; the confidence changes.",
        leaves_out={
            "contradiction_details": "a belief update of this type resolves no contradiction; begin with `contradiction_resolved()`",
        },
    )

    staleness_refresh = Branch(
        "BeliefUpdatePayload.staleness_refresh", "update_type", case="value", value="staleness_refresh",
        doc="The content is unchanged and confirmed as still current.",
        leaves_out={
            "contradiction_details": "a belief update of this type resolves no contradiction; begin with `contradiction_resolved()`",
        },
    )


class Budgets(Object):
    """Limits on what an episode may use. Those of its first decision bind and are never raised (INV-005, D32)."""

    __slots__ = ()


class ChosenOption(Object):
    """The option that was chosen. Every field is optional (D39)."""

    __slots__ = ()


class ConstraintsSatisfied(Object):
    """Which checks the chosen outcome passed. Three of them are required (D39)."""

    __slots__ = ()


class ContradictionDetails(Object):
    """Which packets contradicted each other, and how that was resolved. Every field is optional (D39)."""

    __slots__ = ()


class DecisionPacket(Packet):
    """One decision: verify first, act, escalate, defer or cancel (D5). The first one of an episode sets its budgets (D32)."""

    __slots__ = ()


class DecisionPayload(Object):
    """What was decided, and why."""

    __slots__ = ()


class DefinitionOfDone(Object):
    """When the work counts as done."""

    __slots__ = ()


class Epistemics(Object):
    """How the content of a packet is known, with what confidence, and how soon it becomes stale."""

    __slots__ = ()


class ErrorDetails(Object):
    """What went wrong. Every field is optional (D39)."""

    __slots__ = ()


class EscalationOption(Object):
    """One option to choose from. All fields except `risk_summary` are required (D39)."""

    __slots__ = ()


class EscalationPacket(Packet):
    """Hands a decision to a human or to layer 1, with options to choose from (E5, INV-009). User input ends the escalation (D8)."""

    __slots__ = ()


class EscalationPayload(Object):
    """Why a decision is handed over, and what there is to choose from (E5, INV-009)."""

    __slots__ = ()


class EstimatedCost(Object):
    """What a step is likely to cost. Every field is an optional integer (D39)."""

    __slots__ = ()


class Evidence(Object):
    """What the content of a packet rests on."""

    __slots__ = ()

    absent = Branch(
        "Evidence.absent", "evidence_refs", case="empty", value=None,
        doc="No evidence, with the reason why there is none.",
    )

    present = Branch(
        "Evidence.present", "evidence_refs", case="filled", value=None,
        doc="At least one piece of evidence.",
        leaves_out={
            "evidence_absent_reason": "there is evidence; begin with `absent()` where there is none",
        },
    )


class EvidenceGap(Object):
    """Something that is unknown."""

    __slots__ = ()


class EvidenceRef(Object):
    """One piece of evidence."""

    __slots__ = ()


class ExecutionMetadata(Object):
    """What a task used up. Every field is optional (D39)."""

    __slots__ = ()


class ExecutionMethod(Object):
    """How a task is carried out. Only `method` is always required (D39)."""

    __slots__ = ()

    tool = Branch(
        "ExecutionMethod.tool", "method", case="value", value="tool",
        doc="A tool is called by its id.",
        leaves_out={
            "code_ref": "a tool call runs no code; begin with `code()`",
            "code_params": "a tool takes `tool_params`; for code parameters, begin with `code()`",
        },
    )

    code = Branch(
        "ExecutionMethod.code", "method", case="value", value="code",
        doc="Code is run by reference. If it changes things, `tool_id` names the tool whose permission covers it (D28).",
    )

    llm_call = Branch(
        "ExecutionMethod.llm_call", "method", case="value", value="llm_call",
        doc="A language model is called.",
        leaves_out={
            "code_ref": "a language model runs no code; begin with `code()`",
            "code_params": "a language model takes `tool_params`; for code parameters, begin with `code()`",
        },
    )

    memory_query = Branch(
        "ExecutionMethod.memory_query", "method", case="value", value="memory_query",
        doc="The agent's memory is queried.",
        leaves_out={
            "code_ref": "a memory query runs no code; begin with `code()`",
            "code_params": "a memory query takes `tool_params`; for code parameters, begin with `code()`",
        },
    )


class FailureMode(Object):
    """A way in which the decision can go wrong. Every field is optional (D39)."""

    __slots__ = ()


class IntegrityAlertPacket(Packet):
    """Reports an anomaly. By its severity it can start safe mode or end it (D13, D14), and it can revoke tokens (D25)."""

    __slots__ = ()


class IntegrityAlertPayload(Object):
    """What is wrong, how severe it is, and which tokens are revoked (D44)."""

    __slots__ = ()


class Intent(Object):
    """What a packet is for."""

    __slots__ = ()


class LoadBearingAssumption(Object):
    """An assumption that a decision depends on."""

    __slots__ = ()


class McpEnvelope(Object):
    """The MCP envelope: why a packet is sent, what is at stake, and what its claims rest on. Required in full on every packet (D29). It has nothing to do with the Model Context Protocol."""

    __slots__ = ()


class NextStep(Object):
    """What the agent recommends to do next."""

    __slots__ = ()


class ObservationPacket(Packet):
    """Reports an observation: tool output, user input, telemetry. It starts an episode and opens each new cycle (D12)."""

    __slots__ = ()


class ObservationPayload(Object):
    """What was observed, and where it came from."""

    __slots__ = ()


class PacketHeader(Object):
    """Identity, time and origin of a packet."""

    __slots__ = ()


class Quality(Object):
    """How good the work must be, and when it is done."""

    __slots__ = ()


class QueueItem(Object):
    """One item of a queue (D45)."""

    __slots__ = ()


class QueueUpdatePacket(Packet):
    """Changes a work queue. It has a schema but no transition, so it is illegal in every state (D16)."""

    __slots__ = ()


class QueueUpdatePayload(Object):
    """What happens to which items of the queue (D45)."""

    __slots__ = ()


class RejectedAlternative(Object):
    """An option that was rejected. Every field is optional (D39)."""

    __slots__ = ()


class ReliabilityMetadata(Object):
    """How reliable an observation is. Every field is optional (D39)."""

    __slots__ = ()


class RetryPolicy(Object):
    """How failed attempts are retried. Every field is optional (D39)."""

    __slots__ = ()


class RiskBudget(Object):
    """The risk that may be taken; no rule can check it (D32)."""

    __slots__ = ()


class Routing(Object):
    """The kind of task a packet belongs to, and whether the tools work."""

    __slots__ = ()


class Stakes(Object):
    """What is at stake, split into four axes and one overall level."""

    __slots__ = ()


class TaskDirectivePacket(Packet):
    """Orders one task. It stays open until a `TaskResultPacket` names it (E6, D20)."""

    __slots__ = ()


class TaskDirectivePayload(Object):
    """Which task is to be done, how, and with which permission."""

    __slots__ = ()

    read = Branch(
        "TaskDirectivePayload.read", "tool_safety_class", case="value", value="READ",
        doc="A task that only reads. It needs no token.",
        leaves_out={
            "authorization_token_id": "a task that only reads needs no token; for one that changes things, begin with `write()` or `mixed()`",
        },
        excludes={
            "task_type": {
                "tool_write": "a task of type `tool_write` counts as WRITE and needs a token (D23): begin with `write()` or `mixed()`",
            },
        },
    )

    write = Branch(
        "TaskDirectivePayload.write", "tool_safety_class", case="value", value="WRITE",
        doc="A task that changes things. It names the token that permits it.",
    )

    mixed = Branch(
        "TaskDirectivePayload.mixed", "tool_safety_class", case="value", value="MIXED",
        doc="A task that reads and changes things. It names the token that permits it (D17).",
    )

    unclassified = Branch(
        "TaskDirectivePayload.unclassified", "tool_safety_class", case="absent", value=None,
        doc="A task without a safety class; type and method determine whether it counts as WRITE (D23).",
    )


class TaskResultPacket(Packet):
    """Reports how a task ended, and closes its directive. It must name an open directive; otherwise it breaks E6 (D20)."""

    __slots__ = ()


class TaskResultPayload(Object):
    """How a task ended, and what it produced."""

    __slots__ = ()

    success = Branch(
        "TaskResultPayload.success", "result_status", case="value", value="SUCCESS",
        doc="The task did what was ordered.",
        leaves_out={
            "error_details": "a success has no error; begin with `failure()`, or with `cancelled()`",
        },
    )

    failure = Branch(
        "TaskResultPayload.failure", "result_status", case="value", value="FAILURE",
        doc="The task failed, and its error is described.",
    )

    cancelled = Branch(
        "TaskResultPayload.cancelled", "result_status", case="value", value="CANCELLED",
        doc="The task was cancelled; `error_details` may give the reason.",
    )


class ToolAuthorizationPayload(Object):
    """What a token allows, how often and until when. Sent again, a token can narrow its grant but never widen it (D24)."""

    __slots__ = ()


class ToolAuthorizationToken(Packet):
    """Grants a limited right to use tools that change things. Every WRITE or MIXED directive needs a live one (E4, INV-007)."""

    __slots__ = ()


class VerificationPlanPacket(Packet):
    """Lists the assumptions that a verification loop tests, and how. It must come before the loop's first directive (E3, D22)."""

    __slots__ = ()


class VerificationPlanPayload(Object):
    """Which assumptions are tested, how, and within which limits (D43)."""

    __slots__ = ()


class VerificationTarget(Object):
    """One assumption, and how to test it (D43)."""

    __slots__ = ()
