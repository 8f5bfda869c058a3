//! Hover text: the rule broken at a position, and what the schema says about the position.

use omen::render::human::clean;
use serde_json::{Value, json};

use super::cursor::{JsonOutline, NodeKind};
use super::documents::OpenDocument;
use super::fields::SchemaPlace;
use super::packets;
use super::text::IndexedText;
use crate::input::Layout;

/// Returns the hover text for a byte offset in a log.
pub(super) fn hover(document: &OpenDocument, text: &IndexedText, layout: Layout, offset: usize) -> Option<Value> {
    let mut sections = broken_rules(document, offset);
    let described = described(text.as_str(), layout, offset);
    let range = described.as_ref().map(|(range, _)| text.range(range));
    sections.extend(described.into_iter().map(|(_, section)| section));
    if sections.is_empty() {
        return None;
    }
    let contents = json!({"kind": "markdown", "value": sections.join("\n\n---\n\n")});
    Some(json!({"contents": contents, "range": range}))
}

/// Describes the rules of the findings at a byte offset, each with its fix.
fn broken_rules(document: &OpenDocument, offset: usize) -> Vec<String> {
    let here = document.findings.iter().filter(|found| found.range.start <= offset && offset <= found.range.end);
    let mut sections = Vec::new();
    for found in here.take(MOST_RULES) {
        let info = found.code.info();
        let help = found.help.as_deref().map_or_else(|| info.help.into(), |help| without_links(&clean(help)));
        let section = format!("**{}: {}**\n\n{}\n\nFix: {help}", found.code, info.title, info.statement);
        if !sections.contains(&section) {
            sections.push(section);
        }
    }
    sections
}

/// Describes the field at a byte offset and the meaning of its value.
fn described(text: &str, layout: Layout, offset: usize) -> Option<(std::ops::Range<usize>, String)> {
    let packet = packets::range_at(text, layout, offset)?;
    let outline = JsonOutline::new(text.get(packet.clone())?);
    let at = outline.at(offset - packet.start)?;
    let node = outline.node(at)?;
    let is_in = |range: &&std::ops::Range<usize>| range.contains(&(offset - packet.start));
    let key = node.key.as_ref().filter(is_in);
    let value = node.value.as_ref().filter(|_| matches!(node.kind, NodeKind::Text | NodeKind::Word));
    let range = key.or(value)?;
    let steps = outline.steps(at);
    let place = SchemaPlace::find(packets::packet_type(&outline), steps.iter().map(String::as_str))?;
    let field = place.field?;
    let mut section = format!("`{}`: {}", field.name, field.description);
    let values = place.values();
    let written = node.value.clone().and_then(|value| text.get(packet.start + value.start..packet.start + value.end));
    let meaning = values.iter().find(|(value, _)| Some(value.as_str()) == written);
    if let Some((value, Some(meaning))) = meaning {
        section.push_str(&format!("\n\n`{value}`: {meaning}"));
    }
    Some((packet.start + range.start..packet.start + range.end, section))
}

/// Disables Markdown links, because part of the text may come from the log.
fn without_links(text: &str) -> String {
    if text.contains("](") { text.replace('[', "\\[").replace(']', "\\]") } else { text.to_owned() }
}

/// Maximum number of rules shown at one position.
const MOST_RULES: usize = 3;
