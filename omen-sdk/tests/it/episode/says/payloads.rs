//! Generated payloads with all their members, as a program parses them from JSON.

use omen::packet::{
    BeliefUpdatePayload, DecisionPayload, EscalationPayload, IntegrityAlertPayload, ObservationPayload, PacketId,
    TaskDirectivePayload, TaskResultPayload, ToolAuthorizationPayload, VerificationPlanPayload,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Returns a payload with some members replaced; `null` removes one.
fn with<T: DeserializeOwned>(mut payload: Value, other: Value) -> T {
    for (member, value) in other.as_object().unwrap() {
        match value {
            Value::Null => drop(payload.as_object_mut().unwrap().remove(member)),
            value => payload[member] = value.clone(),
        }
    }
    serde_json::from_value(payload).unwrap()
}

pub(super) fn observation(other: Value) -> ObservationPayload {
    let payload = json!({
        "observation_type": "tool_output",
        "data": { "pool": 20 },
        "source_tool": "config.get",
        "query_params": { "key": "pool" },
        "reliability_metadata": { "tool_success": true, "latency_ms": 3.5, "partial_result": false },
    });
    with(payload, other)
}

pub(super) fn belief(other: Value) -> BeliefUpdatePayload {
    let payload = json!({
        "update_type": "contradiction_resolved",
        "belief_changes": [
            { "domain": "db", "key": "pool", "new_value": 20, "prior_value": 10, "epistemic_upgrade": true },
        ],
        "evidence_integration": ["pkt_payloads_1"],
        "contradiction_details": { "conflicting_packet_ids": ["pkt_payloads_1"], "resolution_method": "prefer_fresh" },
    });
    with(payload, other)
}

pub(super) fn decision(outcome: &str, other: Value) -> DecisionPayload {
    let payload = json!({
        "decision_outcome": outcome,
        "decision_summary": "it is safe, by safety",
        "constraints_satisfied": {
            "constitutional_check": true, "budget_check": true, "tier_check": true, "verification_check": true,
        },
        "chosen_option": { "option_id": "go", "description": "go on", "expected_value": 2.5, "risk_profile": "small" },
        "rejected_alternatives": [{ "option_id": "stay", "rejection_reason": "it is late" }],
        "failure_modes": [{ "mode": "it breaks", "mitigation": "fix it" }],
    });
    with(payload, other)
}

pub(super) fn plan(decision: &PacketId, other: Value) -> VerificationPlanPayload {
    let payload = json!({
        "decision_packet_id": decision,
        "targets": [
            { "assumption": "the pool is 20", "method": "tool", "success_criteria": "it says 20", "tool_id": "config.get" },
        ],
        "max_tool_calls": 3,
        "time_budget_seconds": 60,
        "on_failure": "retry",
    });
    with(payload, other)
}

pub(super) fn token(other: Value) -> ToolAuthorizationPayload {
    let payload = json!({
        "token_id": "token_payloads",
        "authorized_scope": {
            "tool_ids": ["config.move", "config.set"],
            "operation_types": ["write", "modify", "delete", "read"],
            "resource_constraints": { "max_value": 40 },
        },
        "expiry": "2026-03-01T11:00:00Z",
        "max_usage_count": 2,
        "issuer_layer": 5,
        "usage_count": 0,
        "revoked": false,
        "rationale": "ticket 7",
    });
    with(payload, other)
}

pub(super) fn directive(other: Value) -> TaskDirectivePayload {
    let payload = json!({
        "task_id": "task_payloads",
        "task_type": "tool_write",
        "execution_method": {
            "method": "tool", "tool_id": "config.set", "tool_params": { "value": 40 },
            "code_ref": "git:set.py@7", "code_params": { "value": 40 },
        },
        "tool_safety_class": "WRITE",
        "authorization_token_id": "token_payloads",
        "timeout_seconds": 9,
        "retry_policy": { "max_retries": 2, "backoff_multiplier": 1.5 },
    });
    with(payload, other)
}

pub(super) fn result(task: &str, directive: &PacketId, other: Value) -> TaskResultPayload {
    let payload = json!({
        "task_id": task,
        "directive_packet_id": directive,
        "result_status": "SUCCESS",
        "result_data": { "value": 40 },
        "error_details": {
            "error_code": "E7", "error_message": "locked once", "is_transient": true, "retry_recommended": false,
        },
        "execution_metadata": { "execution_time_ms": 4.5, "tokens_used": 5, "tool_calls_used": 1, "retry_count": 1 },
        "observation_packet_id": "pkt_payloads_1",
    });
    with(payload, other)
}

pub(super) fn escalation(other: Value) -> EscalationPayload {
    let option = |id: &str| json!({ "option_id": id, "description": id, "pros": ["cheap"], "cons": ["slow"], "risk_summary": "small" });
    let payload = json!({
        "escalation_trigger": "user_override_required",
        "top_options": [option("wait"), option("go"), option("ask")],
        "evidence_gaps": [{ "gap": "load", "impact_if_unknown": "unknown", "verification_method": "measure it" }],
        "recommended_next_step": {
            "step": "ask", "rationale": "it is free",
            "estimated_cost": { "time_seconds": 6, "tokens": 5, "tool_calls": 7 },
        },
        "blocking_decision_packet_id": "pkt_payloads_1",
    });
    with(payload, other)
}

pub(super) fn alert(severity: &str, other: Value) -> IntegrityAlertPayload {
    let payload = json!({
        "alert_type": "drift",
        "severity": severity,
        "summary": "for the record",
        "rationale": "it was asked for",
        "revoked_token_ids": ["token_old"],
        "related_packet_ids": ["pkt_payloads_1"],
    });
    with(payload, other)
}
