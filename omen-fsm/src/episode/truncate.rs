//! Truncation of records that are too long for a line.
//!
//! A record (an observation, a belief, an alert, the reasons of a decision, an escalation) is meant to be read. Refusing it for
//! its length would lose it, and would make a move fail that has no error in its type. So it is shortened, and the log reports
//! that. The parameters of a directive, which a tool acts on, are never shortened; a directive that is too long is refused.

use omen_types::fit::{cut, shorten, size};
use omen_types::limits::MAX_LINE_BYTES;
use omen_types::serde_json::{self, Map, Value};
use omen_types::{Code, Diagnostic, Packet};

use super::errors::Refusal;

/// Length of texts and lists to try first.
const FIRST: usize = MAX_LINE_BYTES / 16;

/// Texts and lists up to this length are never shortened.
const LEAST: usize = 256;

/// Packet with its line.
pub(super) struct SerializedRecord {
    pub(super) packet: Packet,
    pub(super) text: String,
    /// Length of the line before shortening, or `None` if it was not shortened.
    pub(super) was: Option<usize>,
}

/// Serializes a packet as JSON.
pub(super) fn text(packet: &Packet) -> Result<String, Refusal> {
    serde_json::to_string(packet)
        .map_err(|error| Refusal::rule(Diagnostic::error(Code::Json, format!("the packet cannot be written: {error}"))))
}

/// Serializes a record, and shortens it if it is too long.
pub(super) fn record(packet: Packet) -> Result<SerializedRecord, Refusal> {
    let whole = text(&packet)?;
    if whole.len() <= MAX_LINE_BYTES {
        return Ok(SerializedRecord { packet, text: whole, was: None });
    }
    let was = whole.len();
    drop(whole);
    let mut packet = packet;
    let mut most = FIRST;
    while most >= LEAST {
        if let Some(shorter) = shortened(&mut packet, most) {
            let text = text(&shorter)?;
            if text.len() <= MAX_LINE_BYTES {
                return Ok(SerializedRecord { packet: shorter, text, was: Some(was) });
            }
        }
        most /= 2;
    }
    // The record is refused, like any line that is too long.
    Ok(SerializedRecord { text: text(&packet)?, packet, was: None })
}

/// Returns the packet with texts and lists of at most `most` bytes and elements, or `None` if that violates the schema.
fn shortened(packet: &mut Packet, most: usize) -> Option<Packet> {
    match packet {
        Packet::Observation(observation) => {
            let payload = &mut observation.payload;
            [Some(&mut payload.data), payload.query_params.as_mut()]
                .into_iter()
                .flatten()
                .for_each(|map| members(map, most));
        }
        Packet::BeliefUpdate(belief) => {
            for change in &mut belief.payload.belief_changes {
                free(&mut change.new_value, most);
                free(&mut change.prior_value, most);
            }
        }
        _ => {}
    }
    let mut value = serde_json::to_value(&*packet).ok()?;
    shorten(value.get_mut("payload")?, most);
    value.to_string().parse().ok()
}

/// Shortens each field of a free-form object.
fn members(map: &mut Map<String, Value>, most: usize) {
    map.values_mut().for_each(|value| free(value, most));
}

/// Shortens a free-form value: one that is too long is replaced by its truncated JSON text.
fn free(value: &mut Value, most: usize) {
    match value {
        Value::String(text) => cut(text, most),
        Value::Array(_) | Value::Object(_) if size(value) > most => {
            let mut text = value.to_string();
            cut(&mut text, most);
            *value = Value::String(text);
        }
        _ => {}
    }
}
