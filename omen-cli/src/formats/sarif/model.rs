//! SARIF objects, with only the members used here.

use serde::Serialize;

use crate::formats::shown::{AnyFinding, ORDER};

#[derive(Serialize)]
pub(super) struct Message {
    pub(super) text: String,
}

/// A plain-text message.
#[derive(Serialize)]
pub(super) struct MessageText(pub(super) Message);

#[derive(Serialize)]
pub(super) struct WorkingDirectory {
    pub(super) description: MessageText,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifResult<'a> {
    pub(super) rule_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rule_index: Option<usize>,
    pub(super) level: &'a str,
    pub(super) message: MessageText,
    pub(super) locations: [SarifLocation<'a>; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) related_locations: Vec<RelatedLocation<'a>>,
    pub(super) partial_fingerprints: PartialFingerprint,
    pub(super) properties: FindingProperties<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifLocation<'a> {
    pub(super) physical_location: Physical,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) logical_locations: Vec<LogicalLocation<'a>>,
}

#[derive(Serialize)]
pub(super) struct RelatedLocation<'a> {
    pub(super) id: u64,
    #[serde(flatten)]
    pub(super) location: SarifLocation<'a>,
    pub(super) message: MessageText,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Physical {
    pub(super) artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) region: Option<Region>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactLocation {
    pub(super) uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) uri_base_id: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) index: Option<usize>,
}

#[derive(Serialize)]
pub(super) struct Artifact {
    pub(super) location: ArtifactLocation,
    /// Number of bytes read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) length: Option<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Region {
    pub(super) start_line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) start_column: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end_column: Option<u64>,
}

/// Position within the packet.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LogicalLocation<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    fully_qualified_name: String,
    kind: &'static str,
}

impl<'a> LogicalLocation<'a> {
    /// Builds the location `EPISODE/PACKET#POINTER`; empty if neither packet nor episode is known.
    pub(super) fn from_finding(finding: AnyFinding<'a>) -> Vec<Self> {
        let (episode, packet) = (finding.correlation_id(), finding.packet_id());
        let Some(name) = packet.or(episode) else { return Vec::new() };
        let mut full = match (episode, packet) {
            (Some(episode), Some(packet)) => format!("{episode}/{packet}"),
            _ => name.to_owned(),
        };
        if let Some(pointer) = finding.pointer() {
            full.push('#');
            full.push_str(pointer);
        }
        vec![Self { name: Some(name), fully_qualified_name: full, kind: "object" }]
    }
}

/// Fingerprint of a finding. The member's name contains a version, which changes with the hashed parts.
#[derive(Serialize)]
pub(super) struct PartialFingerprint {
    #[serde(rename = "omenFinding/v1")]
    pub(super) value: String,
}

/// Properties for which SARIF has no member, named as in `--format json`.
#[derive(Serialize)]
pub(super) struct FindingProperties<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    packet_index: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    packet_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    correlation_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    packet_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'a [&'static str]>,
    stage: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pointer: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    undecidable: bool,
}

impl<'a> FindingProperties<'a> {
    pub(super) fn from_finding(shown: AnyFinding<'a>) -> Self {
        let (packet, entry) = match shown {
            AnyFinding::Packet(finding) => (Some(finding), None),
            AnyFinding::Entry(finding) => (None, Some(&finding.order)),
        };
        Self {
            packet_index: packet.and_then(|finding| finding.packet_index),
            packet_id: shown.packet_id(),
            correlation_id: shown.correlation_id(),
            packet_type: packet.and_then(|finding| finding.packet_type).map(|packet_type| packet_type.as_str()),
            state: packet.and_then(|finding| finding.state.as_deref()),
            stage: packet.map_or(ORDER, |finding| finding.stage.as_str()),
            also: shown.also().iter().map(|code| code.as_str()).collect(),
            pointer: packet.and_then(|finding| finding.diagnostic.pointer.as_deref()),
            notes: shown.notes(),
            entry: entry.map(|order| order.entry),
            rule: entry.and_then(|order| order.rule.as_deref()),
            undecidable: entry.is_some_and(|order| order.is_undecided),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Notification {
    pub(super) level: &'static str,
    pub(super) message: MessageText,
    pub(super) locations: [SarifLocation<'static>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Invocation<'a> {
    pub(super) execution_successful: bool,
    #[serde(skip_serializing_if = "<[Notification]>::is_empty")]
    pub(super) tool_execution_notifications: &'a [Notification],
}
