//! Packets of a log that is being edited, and the ids that they introduce.

use std::ops::Range;

use omen_types::PacketType;

use super::cursor::JsonOutline;
use super::fields::SchemaPlace;
use crate::input::{Layout, packet_ranges};

/// A packet, as far as it is readable.
#[derive(Debug)]
pub(super) struct PacketEntry {
    pub(super) range: Range<usize>,
    pub(super) packet_type: Option<PacketType>,
    pub(super) packet_id: Option<String>,
    pub(super) episode: Option<String>,
    /// Ids that the packet introduces, each with the name of its schema definition.
    pub(super) ids: Vec<(&'static str, String)>,
}

impl PacketEntry {
    fn read(text: &str, range: Range<usize>) -> Self {
        let outline = JsonOutline::new(text.get(range.clone()).unwrap_or_default());
        let packet_type = packet_type(&outline);
        let mut ids = Vec::new();
        for (introduced_by, steps) in INTRODUCED {
            let is_of_type = introduced_by.is_none() || *introduced_by == packet_type;
            if let Some(id) = outline.text_at(steps).filter(|_| is_of_type)
                && let Some(place) = SchemaPlace::find(packet_type, steps.iter().copied())
            {
                ids.extend(place.definitions().map(|definition| (definition, id.clone())));
            }
        }
        let [packet_id, episode] = [PACKET_ID, EPISODE].map(|steps| outline.text_at(steps));
        Self { range, packet_type, packet_id, episode, ids }
    }

    pub(super) fn introduces(&self, id: &str) -> bool {
        self.ids.iter().any(|(_, own)| own == id)
    }
}

pub(super) fn read(text: &str, layout: Layout) -> Vec<PacketEntry> {
    packet_ranges(text, layout).into_iter().map(|range| PacketEntry::read(text, range)).collect()
}

/// Returns the range of the packet at a byte offset.
pub(super) fn range_at(text: &str, layout: Layout, offset: usize) -> Option<Range<usize>> {
    packet_ranges(text, layout).into_iter().find(|range| range.start <= offset && offset <= range.end)
}

pub(super) fn packet_type(outline: &JsonOutline<'_>) -> Option<PacketType> {
    let name = outline.text_at(PACKET_TYPE)?;
    PacketType::ALL.iter().copied().find(|packet_type| packet_type.as_str() == name)
}

/// Returns whether a value must be unique among all packets.
pub(super) fn is_new_id(packet_type: Option<PacketType>, steps: &[String]) -> bool {
    let is_here = |(introduced_by, at): &(Option<PacketType>, &[&str])| {
        *at != EPISODE && (introduced_by.is_none() || *introduced_by == packet_type) && steps == *at
    };
    INTRODUCED.iter().any(is_here)
}

/// Returns whether any of the first packets has a field that all packets share.
pub(super) fn is_log(text: &str, layout: Layout) -> bool {
    let Some(root) = SchemaPlace::find(None, []) else { return false };
    packet_ranges(text, layout).into_iter().take(FIRST_PACKETS).any(|range| {
        let outline = JsonOutline::new(text.get(range).unwrap_or_default());
        outline.names(0).any(|name| root.fields().any(|field| field.name == name))
    })
}

const PACKET_ID: &[&str] = &["header", "packet_id"];
const PACKET_TYPE: &[&str] = &["header", "packet_type"];
pub(super) const EPISODE: &[&str] = &["header", "correlation_id"];

/// Positions at which ids are introduced, for packets of all types (`None`) or of one type.
const INTRODUCED: &[(Option<PacketType>, &[&str])] = &[
    (None, PACKET_ID),
    (None, EPISODE),
    (Some(PacketType::ToolAuthorizationToken), &["payload", "token_id"]),
    (Some(PacketType::TaskDirectivePacket), &["payload", "task_id"]),
];

/// Number of packets that are inspected to decide whether a text is a log.
const FIRST_PACKETS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn introduced_ids_have_a_definition() {
        for (packet_type, steps) in INTRODUCED {
            let place = SchemaPlace::find(*packet_type, steps.iter().copied());
            assert!(place.is_some_and(|place| place.definitions().next().is_some()), "{steps:?}");
        }
        assert!(SchemaPlace::find(None, PACKET_TYPE.iter().copied()).is_some());
    }

    #[test]
    fn packets_are_read_as_far_as_they_can_be() {
        let log = omen_schema::example("valid/verify-then-write.jsonl").unwrap_or_default();
        let entries = read(&format!("{log}{{\"header\": {{\"packet_id\": \"pkt_new\", \"corr"), Layout::Auto);
        assert!(entries.iter().any(|entry| entry.ids.iter().any(|(name, _)| *name == "TokenId")));
        assert!(entries.iter().any(|entry| entry.ids.iter().any(|(name, _)| *name == "TaskId")));
        let last = entries.last();
        assert!(last.is_some_and(|last| last.packet_id.as_deref() == Some("pkt_new") && last.episode.is_none()));
    }

    #[test]
    fn other_json_is_not_a_log() {
        assert!(!is_log("{\n  \"name\": \"x\",\n  \"version\": \"1\"\n}\n", Layout::Auto));
        assert!(!is_log("", Layout::Auto));
        assert!(is_log("{\n  \"header\": {", Layout::Auto));
        assert!(is_log(omen_schema::example("valid/read-only.jsonl").unwrap_or_default(), Layout::Auto));
    }
}
