//! One-row summary of a packet: time, layer, a short description, and links to other packets.

use omen_types::packet::{BeliefUpdatePayload, McpEnvelope, Packet, PacketHeader, TaskDirectivePayload};
use omen_types::{Instant, LayerSource, Timestamp};
use serde::Serialize;

/// Summary of a packet that conforms to its schema.
#[derive(Debug, Default)]
pub(super) struct PacketDigest {
    /// Milliseconds since 1970.
    pub(super) time: Option<i64>,
    pub(super) layer: Option<String>,
    /// Short description.
    pub(super) brief: String,
    pub(super) links: Links,
    pub(super) role: Role,
}

/// Further role of a packet in the report.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Role {
    /// A decision with its budgets: LLM tokens, tool calls, seconds.
    Decision([u64; 3]),
    /// A packet sent under the current decision.
    UnderDecision,
    #[default]
    Other,
}

/// What a packet introduces and refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Links {
    /// Names that later packets may refer to.
    #[serde(rename = "d", skip_serializing_if = "Vec::is_empty")]
    defines: Vec<Name>,
    #[serde(rename = "r", skip_serializing_if = "Vec::is_empty")]
    refers: Vec<Reference>,
    /// Budgets of the episode, if this packet sets them.
    #[serde(rename = "b", skip_serializing_if = "Option::is_none")]
    budgets: Option<[u64; 3]>,
    /// Turn in the audit log to which the packet belongs, as recorded by the proxy.
    #[serde(rename = "t", skip_serializing_if = "Option::is_none")]
    turn: Option<String>,
    /// LLM tokens and tool calls that the packet reports as used.
    #[serde(rename = "s", skip_serializing_if = "Option::is_none")]
    spent: Option<[u64; 2]>,
    /// Tool that the packet directs, or whose output it contains.
    #[serde(rename = "o", skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    /// Whether the packet directs a write.
    #[serde(rename = "w", skip_serializing_if = "is_false")]
    is_write: bool,
}

/// A name, and whether a later packet must refer to it before the episode ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Name(LinkKind, String, bool);

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Reference {
    /// Displayed relation.
    #[serde(rename = "l")]
    label: &'static str,
    #[serde(rename = "k")]
    kind: LinkKind,
    #[serde(rename = "i")]
    id: String,
    /// Whether the reference is a step from a decision to its results.
    #[serde(rename = "c", skip_serializing_if = "is_false")]
    is_step: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum LinkKind {
    Packet,
    Token,
    Task,
}

impl PacketDigest {
    pub(super) fn from_packet(packet: &Packet) -> Self {
        let mut links = Links::default();
        let (header, brief, role) = match packet {
            Packet::Observation(p) => {
                let what = p.payload.observation_type.as_str();
                let tool = p.payload.source_tool.as_deref().map(|tool| format!(" from {tool}")).unwrap_or_default();
                links.tool = p.payload.source_tool.as_deref().map(str::to_owned);
                links.turn = p.payload.data.get("turn").and_then(|turn| turn.as_str()).map(str::to_owned);
                (p.header(), format!("{what}{tool}"), Role::Other)
            }
            Packet::BeliefUpdate(p) => {
                for id in p.payload.evidence_integration.iter().flatten() {
                    links.refer("evidence", LinkKind::Packet, id, false);
                }
                (p.header(), belief(&p.payload), Role::Other)
            }
            Packet::Decision(p) => {
                let brief = format!("{}: {}", p.payload.decision_outcome.as_str(), p.payload.decision_summary.as_str());
                (p.header(), brief, Role::Decision(budgets(&p.mcp)))
            }
            Packet::VerificationPlan(p) => {
                links.refer("decision", LinkKind::Packet, p.payload.decision_packet_id.as_str(), true);
                (p.header(), counted(p.payload.targets.len(), "target"), Role::Other)
            }
            Packet::ToolAuthorizationToken(p) => {
                let (payload, scope) = (&p.payload, &p.payload.authorized_scope);
                links.define(LinkKind::Token, payload.token_id.as_str(), false);
                let revoked = if payload.revoked == Some(true) { "revokes " } else { "" };
                let id = payload.token_id.as_str();
                let brief =
                    format!("{revoked}{id} for {}, until {}", scope.tool_ids.join(", "), payload.expiry.as_str());
                (p.header(), brief, Role::UnderDecision)
            }
            Packet::TaskDirective(p) => {
                links.define(LinkKind::Task, p.payload.task_id.as_str(), true);
                links.tool = p.payload.execution_method.tool_id.as_deref().map(str::to_owned);
                if let Some(token) = &p.payload.authorization_token_id {
                    links.refer("token", LinkKind::Token, token.as_str(), true);
                }
                (p.header(), directive(&p.payload), Role::UnderDecision)
            }
            Packet::TaskResult(p) => {
                let payload = &p.payload;
                links.refer("directive", LinkKind::Packet, payload.directive_packet_id.as_str(), true);
                links.refer("task", LinkKind::Task, payload.task_id.as_str(), false);
                if let Some(id) = &payload.observation_packet_id {
                    links.refer("observation", LinkKind::Packet, id, false);
                }
                let used = payload.execution_metadata.as_ref();
                // Counted as in D32: a result that does not report its use counts as one call and no tokens.
                links.spent = Some([
                    used.and_then(|used| used.tokens_used).map_or(0, |count| count.get()),
                    used.and_then(|used| used.tool_calls_used).map_or(1, |count| count.get()),
                ]);
                let brief = format!("{} of {}", payload.result_status.as_str(), payload.task_id.as_str());
                (p.header(), brief, Role::Other)
            }
            Packet::Escalation(p) => {
                if let Some(id) = &p.payload.blocking_decision_packet_id {
                    links.refer("decision", LinkKind::Packet, id.as_str(), false);
                }
                let options = counted(p.payload.top_options.len(), "option");
                let brief = format!("{}, {options}", p.payload.escalation_trigger.as_str());
                (p.header(), brief, Role::Other)
            }
            Packet::IntegrityAlert(p) => {
                for id in p.payload.revoked_token_ids.iter().flatten() {
                    links.refer("revokes", LinkKind::Token, id.as_str(), false);
                }
                for id in p.payload.related_packet_ids.iter().flatten() {
                    links.refer("about", LinkKind::Packet, id.as_str(), false);
                }
                let brief = format!("{}: {}", p.payload.severity.as_str(), p.payload.summary.as_str());
                (p.header(), brief, Role::Other)
            }
            Packet::QueueUpdate(p) => (p.header(), p.payload.queue_action.as_str().to_owned(), Role::Other),
        };
        if let Some(id) = &header.previous_packet_id {
            links.refer("previous packet", LinkKind::Packet, id.as_str(), false);
        }
        let PacketHeader { created_at, layer_source, .. } = header;
        Self {
            time: Some(milliseconds(created_at)),
            layer: Some(layer(*layer_source)),
            brief: cut(&brief),
            links,
            role,
        }
    }
}

impl Links {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Links the packet to the decision under which it was sent.
    pub(super) fn under(&mut self, decision: &str) {
        self.refer("decision", LinkKind::Packet, decision, true);
    }

    pub(super) fn writes(&mut self) {
        self.is_write = true;
    }

    pub(super) fn sets(&mut self, budgets: [u64; 3]) {
        self.budgets = Some(budgets);
    }

    fn define(&mut self, kind: LinkKind, id: &str, must_be_named: bool) {
        self.defines.push(Name(kind, id.to_owned(), must_be_named));
    }

    fn refer(&mut self, label: &'static str, kind: LinkKind, id: &str, is_step: bool) {
        self.refers.push(Reference { label, kind, id: id.to_owned(), is_step });
    }
}

fn budgets(mcp: &McpEnvelope) -> [u64; 3] {
    let budgets = &mcp.budgets;
    [budgets.token_budget.get(), budgets.tool_call_budget.get(), budgets.time_budget_seconds.get()]
}

fn belief(payload: &BeliefUpdatePayload) -> String {
    let changes = payload.belief_changes.iter().map(|change| format!("{} {}", change.domain, change.key));
    format!("{}: {}", payload.update_type.as_str(), changes.collect::<Vec<_>>().join(", "))
}

fn directive(payload: &TaskDirectivePayload) -> String {
    let method = &payload.execution_method;
    let what = method.tool_id.as_deref().or(method.code_ref.as_deref()).unwrap_or(method.method.as_str());
    let class = payload.tool_safety_class.map(|class| format!("{} ", class.as_str())).unwrap_or_default();
    format!("{class}{what}, {}", payload.task_id.as_str())
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Returns a layer as in JSON, without quotes.
fn layer(source: LayerSource) -> String {
    match source {
        LayerSource::LayerNumber(number) => number.get().to_string(),
        LayerSource::IntegrityLayer(overlay) => overlay.as_str().to_owned(),
    }
}

fn milliseconds(time: &Timestamp) -> i64 {
    let instant: Instant = time.instant();
    let millis = i64::try_from(instant.attos() / 1_000_000_000_000_000).unwrap_or_default();
    instant.unix_seconds().saturating_mul(1000).saturating_add(millis)
}

/// Truncates a description to fit into a row; the packet itself has the full text.
fn cut(text: &str) -> String {
    match text.char_indices().nth(BRIEF) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn is_false(value: &bool) -> bool {
    !value
}

/// Maximum length of a description in characters.
const BRIEF: usize = 120;
