//! Completion of field names, enum values, and ids that occur in the log.

use std::ops::Range;

use serde_json::{Value, json};

use super::cursor::{JsonOutline, TypingSpot};
use super::fields::SchemaPlace;
use super::packets::{self, PacketEntry};
use super::protocol::{ITEM_ENUM_MEMBER, ITEM_FIELD, ITEM_REFERENCE, ITEM_VALUE};
use super::text::IndexedText;
use crate::input::Layout;

/// Returns the completions at a byte offset in a log.
pub(super) fn complete(text: &IndexedText, layout: Layout, offset: usize) -> Option<Value> {
    let range = packets::range_at(text.as_str(), layout, offset)?;
    let packet = text.as_str().get(range.clone())?;
    let outline = JsonOutline::new(packet);
    let packet_type = packets::packet_type(&outline);
    let find = |steps: &[String]| SchemaPlace::find(packet_type, steps.iter().map(String::as_str));
    let items = match outline.typing_spot(offset - range.start)? {
        TypingSpot::Name { object, typed } => {
            let place = find(&outline.steps(object))?;
            let replaced = text.range(&(range.start + typed.start..range.start + typed.end));
            let is_typed = packet.get(typed.clone()).unwrap_or_default().trim_matches('"').to_owned();
            let taken: Vec<_> = outline.names(object).filter(|name| *name != is_typed).collect();
            names(place, &taken, has_colon(packet, &typed), &json!(replaced))
        }
        TypingSpot::Value { steps, typed } => {
            let place = find(&steps)?;
            let replaced = json!(text.range(&(range.start + typed.start..range.start + typed.end)));
            let mut items = values(place, &replaced);
            if !packets::is_new_id(packet_type, &steps) {
                let own = outline.text_at(packets::EPISODE);
                items.extend(ids(place, packets::read(text.as_str(), layout), own.as_deref(), offset, &replaced));
            }
            items
        }
    };
    Some(json!({"isIncomplete": false, "items": items}))
}

fn has_colon(packet: &str, name: &Range<usize>) -> bool {
    packet.get(name.end..).is_some_and(|rest| rest.trim_start().starts_with(':'))
}

/// Returns the fields that an object does not have yet, required ones first.
fn names(place: SchemaPlace, taken: &[String], has_colon: bool, replaced: &Value) -> Vec<Value> {
    let fields = place.fields().enumerate().filter(|(_, field)| !taken.iter().any(|name| name == field.name));
    fields
        .map(|(at, field)| {
            let quoted = format!("\"{}\"", field.name);
            let colon = if has_colon { "" } else { ": " };
            json!({
                "label": field.name,
                "kind": ITEM_FIELD,
                "detail": if field.required { "required" } else { "optional" },
                "documentation": field.description,
                "sortText": format!("{}{at:03}", u8::from(!field.required)),
                "filterText": quoted,
                "textEdit": {"range": replaced, "newText": format!("{quoted}{colon}")},
            })
        })
        .collect()
}

fn values(place: SchemaPlace, replaced: &Value) -> Vec<Value> {
    let values = place.values().into_iter().enumerate();
    values
        .map(|(at, (value, meaning))| {
            let kind = if value.starts_with('"') { ITEM_ENUM_MEMBER } else { ITEM_VALUE };
            json!({
                "label": value.trim_matches('"'),
                "kind": kind,
                "documentation": meaning,
                "sortText": format!("0{at:03}"),
                "filterText": value,
                "textEdit": {"range": replaced, "newText": value},
            })
        })
        .collect()
}

/// Returns ids from other packets that the value may refer to: those of its own episode first, and recent ones before older ones.
fn ids(
    place: SchemaPlace,
    packets: Vec<PacketEntry>,
    own: Option<&str>,
    offset: usize,
    replaced: &Value,
) -> Vec<Value> {
    let definitions: Vec<_> = place.definitions().collect();
    let mut seen: Vec<String> = Vec::new();
    let mut items = Vec::new();
    let others = packets.iter().rev().filter(|packet| packet.range.end < offset || offset < packet.range.start);
    let found = others.flat_map(|packet| packet.ids.iter().map(move |(definition, id)| (packet, definition, id)));
    for (packet, _, id) in found.filter(|(_, definition, _)| definitions.contains(*definition)) {
        if items.len() == MOST_IDS {
            break;
        }
        if seen.contains(id) {
            continue;
        }
        seen.push(id.clone());
        let group = if own.is_some() && packet.episode.as_deref() == own { 1 } else { 2 };
        let literal = Value::from(id.as_str()).to_string();
        items.push(json!({
            "label": id,
            "kind": ITEM_REFERENCE,
            "detail": packet.packet_type.map(|packet_type| packet_type.as_str()),
            "sortText": format!("{group}{:03}", items.len()),
            "filterText": literal,
            "textEdit": {"range": replaced, "newText": literal},
        }));
    }
    items
}

/// Maximum number of ids offered.
const MOST_IDS: usize = 200;
