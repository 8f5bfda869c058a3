//! The packets of the measured episode as a program without this project would write them: plain structs with derived
//! serialization.
//!
//! They are filled from the lines of the episode and must give the same bytes, so any difference from the schema is noticed.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

/// A packet of the episode.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Hand {
    Observation(Packet<Observation>),
    Belief(Packet<Belief>),
    Decision(Box<Packet<Decision>>),
    Directive(Packet<Directive>),
    Result(Packet<Outcome>),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Packet<P> {
    header: Header,
    mcp: Mcp,
    payload: P,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    packet_id: String,
    packet_type: String,
    created_at: String,
    layer_source: Value,
    correlation_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    campaign_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_packet_id: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mcp {
    intent: Intent,
    stakes: Stakes,
    quality: Quality,
    budgets: Budgets,
    epistemics: Epistemics,
    evidence: Evidence,
    routing: Routing,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Intent {
    summary: String,
    scope: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stakes {
    impact: String,
    irreversibility: String,
    uncertainty: String,
    adversariality: String,
    stakes_level: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Quality {
    quality_tier: String,
    satisficing_mode: bool,
    definition_of_done: Done,
    verification_requirement: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Done {
    text: String,
    checks: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Budgets {
    token_budget: u64,
    tool_call_budget: u64,
    time_budget_seconds: u64,
    risk_budget: Risk,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Risk {
    envelope: String,
    max_loss: Number,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Epistemics {
    status: String,
    confidence: Number,
    calibration_note: String,
    freshness_class: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    stale_if_older_than_seconds: Option<u64>,
    assumptions: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Evidence {
    evidence_refs: Vec<Reference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence_absent_reason: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reference {
    ref_type: String,
    ref_id: String,
    timestamp: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reliability_score: Option<Number>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Routing {
    task_class: String,
    tools_state: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Observation {
    observation_type: String,
    data: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    query_params: Option<Map<String, Value>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Belief {
    update_type: String,
    belief_changes: Vec<Change>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence_integration: Option<Vec<String>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    domain: String,
    key: String,
    new_value: Value,
    prior_value: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    epistemic_upgrade: Option<bool>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Decision {
    decision_outcome: String,
    decision_summary: String,
    constraints_satisfied: Constraints,
    #[serde(skip_serializing_if = "Option::is_none")]
    chosen_option: Option<Chosen>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rejected_alternatives: Option<Vec<Rejected>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    load_bearing_assumptions: Option<Vec<Value>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Constraints {
    constitutional_check: bool,
    budget_check: bool,
    tier_check: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    verification_check: Option<bool>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Chosen {
    option_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_value: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    risk_profile: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rejected {
    option_id: String,
    rejection_reason: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Directive {
    task_id: String,
    task_type: String,
    execution_method: Method,
    tool_safety_class: String,
    timeout_seconds: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Method {
    method: String,
    tool_id: String,
    tool_params: Map<String, Value>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Outcome {
    task_id: String,
    directive_packet_id: String,
    result_status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_data: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    execution_metadata: Option<Execution>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Execution {
    execution_time_ms: Number,
    tokens_used: u64,
    tool_calls_used: u64,
    retry_count: u64,
}
