//! Navigation in a log: to the packet that introduced an id, to the cause of a finding, and through the packets by episode.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::cursor::JsonOutline;
use super::documents::OpenDocument;
use super::packets::{self, PacketEntry};
use super::protocol::{ClientSupport, SYMBOL_EPISODE, SYMBOL_PACKET};
use super::text::IndexedText;
use crate::input::Layout;

/// Returns the packet that introduces the id at a byte offset, or else the packet that caused a finding on this packet.
pub(super) fn definition(document: &OpenDocument, text: &IndexedText, layout: Layout, offset: usize) -> Option<Value> {
    let entries = packets::read(text.as_str(), layout);
    let here = entries.iter().find(|entry| entry.range.start <= offset && offset <= entry.range.end)?;
    let introduced = introduced(text.as_str(), &entries, here, offset);
    let cause = || {
        let own = document.findings.iter().filter(|found| here.range.contains(&found.range.start));
        let cause = own.filter_map(|found| found.cause).next()?;
        entries.iter().find(|entry| entry.range.start <= cause && cause <= entry.range.end)
    };
    let target = introduced.or_else(cause)?;
    Some(json!({"uri": document.uri, "range": text.range(&target.range)}))
}

/// Returns the other packet that introduces the id at a byte offset, preferably one of the same episode.
fn introduced<'e>(
    text: &str,
    entries: &'e [PacketEntry],
    here: &PacketEntry,
    offset: usize,
) -> Option<&'e PacketEntry> {
    let outline = JsonOutline::new(text.get(here.range.clone())?);
    let id = outline.string(outline.at(offset - here.range.start)?)?;
    let mut candidates = entries.iter().filter(|entry| entry.introduces(&id));
    let first = candidates.clone().next()?;
    let target = candidates.find(|entry| entry.episode == here.episode).unwrap_or(first);
    (target.range != here.range).then_some(target)
}

/// Returns the packets of a log grouped by episode, or as a flat list if the editor does not support nesting.
pub(super) fn symbols(document: &OpenDocument, text: &IndexedText, layout: Layout, client: ClientSupport) -> Value {
    let entries = packets::read(text.as_str(), layout);
    if !client.nested_symbols {
        return entries.iter().map(|entry| flat(document, text, entry)).collect();
    }
    let mut symbols: Vec<Value> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut episodes: Vec<(&str, Vec<&PacketEntry>)> = Vec::new();
    for entry in &entries {
        let Some(id) = entry.episode.as_deref() else {
            symbols.push(packet(text, entry));
            continue;
        };
        let place = *places.entry(id).or_insert(episodes.len());
        match episodes.get_mut(place) {
            Some((_, packets)) => packets.push(entry),
            None => episodes.push((id, vec![entry])),
        }
    }
    symbols.extend(episodes.iter().filter_map(|(episode, packets)| {
        let (first, last) = (packets.first()?, packets.last()?);
        let count = packets.len();
        Some(json!({
            "name": visible(episode),
            "detail": if count == 1 { "1 packet".to_owned() } else { format!("{count} packets") },
            "kind": SYMBOL_EPISODE,
            "range": text.range(&(first.range.start..last.range.end)),
            "selectionRange": text.range(&first.range),
            "children": packets.iter().map(|entry| packet(text, entry)).collect::<Vec<_>>(),
        }))
    }));
    symbols.into()
}

/// Builds a symbol for the flat list, which names its episode.
fn flat(document: &OpenDocument, text: &IndexedText, entry: &PacketEntry) -> Value {
    json!({
        "name": format!("{} {}", type_name(entry), entry.packet_id.as_deref().unwrap_or_default()).trim_end(),
        "kind": SYMBOL_PACKET,
        "location": {"uri": document.uri, "range": text.range(&entry.range)},
        "containerName": entry.episode,
    })
}

fn packet(text: &IndexedText, entry: &PacketEntry) -> Value {
    let range = text.range(&entry.range);
    json!({
        "name": type_name(entry),
        "detail": entry.packet_id.as_deref().unwrap_or_default(),
        "kind": SYMBOL_PACKET,
        "range": range,
        "selectionRange": range,
    })
}

fn type_name(entry: &PacketEntry) -> &'static str {
    entry.packet_type.map_or("packet", |packet_type| packet_type.as_str())
}

/// Returns a displayable name for an episode, since the protocol does not allow empty names.
fn visible(episode: &str) -> &str {
    if episode.trim().is_empty() { "episode" } else { episode }
}
