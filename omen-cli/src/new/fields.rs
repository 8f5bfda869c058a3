//! Fields of a new packet that depend on its event and on the episode.

use omen_fsm::{Event, LOOP_NODE, sender};
use omen_types::placeholder::PLACEHOLDER;
use omen_types::{EpistemicStatus, EscalationTrigger, Instant, QualityTier, RefType};
use serde::Deserialize;
use serde_json::{Value, json};

use super::episode::Episode;
use crate::exit::Failure;

/// The events in the schema.
#[derive(Deserialize)]
struct Table {
    events: Vec<EventEntry>,
}

#[derive(Deserialize)]
struct EventEntry {
    id: String,
    when: Vec<Guard>,
}

/// Condition for an event: possible values of a field, or of a directive's effective class.
#[derive(Deserialize)]
struct Guard {
    pointer: Option<String>,
    #[serde(rename = "in")]
    values: Vec<String>,
}

/// Sets the fields that determine a packet's event, each to the first of its possible values.
pub(super) fn guard(event: Event, packet: &mut Value) -> Result<(), Failure> {
    let text = omen_schema::file("episode.fsm.json").unwrap_or_default();
    let table: Table =
        serde_json::from_str(text).map_err(|error| Failure::Internal(format!("episode.fsm.json: {error}")))?;
    for guard in table.events.into_iter().filter(|entry| entry.id == event.as_str()).flat_map(|entry| entry.when) {
        // A directive's effective class is the one in its label, unless its type contradicts the label (D23).
        let pointer = guard.pointer.as_deref().unwrap_or("/payload/tool_safety_class");
        if let Some(first) = guard.values.first() {
            set(packet, pointer, json!(first));
        }
    }
    Ok(())
}

/// Sets the fields that continue an episode: ids, time, layer, references. `number` becomes part of new ids; `start` is the time
/// of a first packet.
pub(super) fn fill(event: Event, packet: &mut Value, episode: &Episode, start: Instant, number: u64) {
    let ledger = episode.machine.ledger();
    let now = ledger.clock().map_or(start, |clock| clock.plus_seconds(1));
    set(packet, "/header/packet_id", json!(format!("pkt_{number}")));
    set(packet, "/header/created_at", json!(now.to_string()));
    if let Some(packet_type) = event.packet_type() {
        set(packet, "/header/layer_source", json!(sender(packet_type)));
    }
    if let Some(id) = &episode.correlation_id {
        set(packet, "/header/correlation_id", json!(id));
    }
    if let Some(id) = &episode.chained {
        set(packet, "/header/previous_packet_id", json!(id));
    }
    let last: Option<Value> = episode.last.as_deref().and_then(|line| serde_json::from_str(line).ok());
    for part in ["stakes", "budgets", "routing"] {
        let pointer = format!("/mcp/{part}");
        if let Some(value) = last.as_ref().and_then(|last| last.pointer(&pointer)) {
            set(packet, &pointer, value.clone());
        }
    }
    evidence(event, packet, now);
    payload(event, packet, episode, now, number);
}

/// Sets the evidence. The author must fill in the source of an observation (D89).
fn evidence(event: Event, packet: &mut Value, now: Instant) {
    let source = match event {
        Event::Observe => RefType::ToolOutput,
        Event::ObserveUser => RefType::UserObservation,
        _ => return,
    };
    let reference = json!({ "ref_type": source, "ref_id": PLACEHOLDER, "timestamp": now.to_string() });
    set(packet, "/mcp/epistemics/status", json!(EpistemicStatus::Observed));
    set(packet, "/mcp/evidence", json!({ "evidence_refs": [reference] }));
}

fn payload(event: Event, packet: &mut Value, episode: &Episode, now: Instant, number: u64) {
    let ledger = episode.machine.ledger();
    match event {
        Event::Plan => {
            if let Some(id) = &episode.decision {
                set(packet, "/payload/decision_packet_id", json!(id));
            }
        }
        Event::Believe => {
            let evidence = episode.evidence.iter().filter(|_| episode.machine.nodes().contains(LOOP_NODE));
            for id in evidence {
                set(packet, "/payload/evidence_integration", json!([id]));
            }
        }
        Event::Authorize => {
            set(packet, "/payload/token_id", json!(format!("token_{number}")));
            set(packet, "/payload/expiry", json!(now.plus_seconds(HOUR).to_string()));
            let issuer = packet.pointer("/header/layer_source").cloned().unwrap_or_default();
            set(packet, "/payload/issuer_layer", issuer);
        }
        Event::DirectRead | Event::DirectWrite => {
            set(packet, "/payload/task_id", json!(format!("task_{number}")));
            if event == Event::DirectWrite {
                let first = ["token_1", PLACEHOLDER, "write"].map(str::to_owned);
                let [token, tool, operation] = episode.token.as_ref().unwrap_or(&first);
                set(packet, "/payload/authorization_token_id", json!(token));
                set(packet, "/payload/execution_method/tool_id", json!(tool));
                set(packet, "/payload/execution_method/tool_params", json!({ "operation": operation }));
            }
        }
        Event::Settle => {
            if let Some(open) = ledger.open().in_order().first() {
                set(packet, "/payload/directive_packet_id", json!(open.packet_id));
                set(packet, "/payload/task_id", json!(open.task_id));
            }
        }
        // If the budget is exceeded, these values approve the overrun (D32).
        Event::Escalate if !ledger.overruns(now).is_empty() => {
            set(packet, "/payload/escalation_trigger", json!(EscalationTrigger::BudgetInsufficient));
        }
        Event::Alert if !ledger.overruns(now).is_empty() => {
            set(packet, "/header/layer_source", json!(1));
            set(packet, "/payload/rationale", json!("budget override: …"));
        }
        _ => {}
    }
}

pub(super) fn tier(packet: &mut Value, tier: QualityTier) {
    set(packet, "/mcp/quality/quality_tier", json!(tier));
}

/// Lifetime of a new token, in seconds.
const HOUR: u64 = 3600;

/// Sets a field of an existing object.
fn set(packet: &mut Value, pointer: &str, value: Value) {
    if let Some((parent, field)) = pointer.rsplit_once('/')
        && let Some(object) = packet.pointer_mut(parent).and_then(Value::as_object_mut)
    {
        object.insert(field.to_owned(), value);
    }
}
