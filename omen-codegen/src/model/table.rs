//! Transition table: states, events with their guards, rows, and the obligations of the verification loop.

use serde::Deserialize;

/// State of an episode.
#[derive(Clone, Debug, Deserialize)]
pub struct State {
    /// Id, such as `S3_DECIDE`.
    pub id: String,
    /// Rust name, such as `Decide`.
    pub name: String,
    /// One or two words that complete "the episode is …".
    pub title: String,
    /// Description.
    pub description: String,
    /// Whether episodes start in this state.
    #[serde(default)]
    pub initial: bool,
    /// Sub-states; may be empty.
    #[serde(default)]
    pub substates: Vec<SubState>,
}

/// Sub-state of a state.
#[derive(Clone, Debug, Deserialize)]
pub struct SubState {
    /// Id, such as `ACT`.
    pub id: String,
    /// Rust name, such as `Act`.
    pub name: String,
    /// Description.
    pub description: String,
}

/// Event: a packet type with guards on its content, or the end of the stream.
#[derive(Clone, Debug, Deserialize)]
pub struct Event {
    /// Id, such as `decide_act`.
    pub id: String,
    /// Packet type; `None` for the end of the stream.
    pub packet: Option<String>,
    /// Guards, all of which must match.
    #[serde(default)]
    pub when: Vec<Guard>,
    /// Description.
    pub description: String,
}

/// Condition on a packet's content.
#[derive(Clone, Debug, Deserialize)]
pub struct Guard {
    /// Value to check.
    #[serde(flatten)]
    pub on: GuardOn,
    /// Values that match.
    #[serde(default, rename = "in")]
    pub values: Vec<String>,
}

/// Value that a guard checks.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum GuardOn {
    /// Field at a JSON pointer.
    Pointer(String),
    /// Fact that is derived from the packet by code.
    Derived(String),
}

/// Fact about packets that is derived by code, for guards to check.
#[derive(Clone, Debug, Deserialize)]
pub struct Derived {
    /// Id, such as `safety_class`.
    pub id: String,
    /// Enum of its values; `None` if their type is hand-written.
    #[serde(rename = "enum")]
    pub of: Option<String>,
}

/// Row of the table.
#[derive(Clone, Debug, Deserialize)]
pub struct Row {
    /// Source states, or states with sub-state (`S3_DECIDE/ACT`), or `ANY`.
    #[serde(default)]
    pub from: Vec<String>,
    /// Events.
    #[serde(default)]
    pub events: Vec<String>,
    /// Targets; more than one if the table is nondeterministic here.
    #[serde(default)]
    pub to: Vec<Target>,
    /// Description.
    pub description: String,
    /// Source: decisions, or sections of the protocol documents.
    pub source: String,
}

impl Row {
    /// Returns whether the row leads from a state, or a state with sub-state (`S3_DECIDE/ACT`).
    #[must_use]
    pub fn is_from(&self, node: &str) -> bool {
        let state = node.split_once('/').map_or(node, |(state, _)| state);
        self.from.iter().any(|from| from == ANY || from == node || from == state)
    }
}

/// Wildcard: in `from` of a row, every state; as an event of a refusal, every packet.
pub(super) const ANY: &str = "ANY";

/// Target of a row.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(from = "String")]
pub enum Target {
    /// The source state.
    Same,
    /// A state, or a state with sub-state.
    State(String),
}

impl From<String> for Target {
    fn from(text: String) -> Self {
        if text == "SAME" { Self::Same } else { Self::State(text) }
    }
}

/// Requirement for closing the verification loop.
#[derive(Clone, Debug, Deserialize)]
pub struct Obligation {
    /// Id, such as `plan`.
    pub id: String,
    /// Rust name, such as `Plan`.
    pub name: String,
    /// Events that meet the obligation.
    #[serde(default)]
    pub events: Vec<String>,
    /// Additional conditions on the packet.
    #[serde(default)]
    pub when: Vec<Guard>,
    /// Guard on the packet before the closing one; the obligation is waived unless the guard matches.
    pub waived_unless: Option<Guard>,
    /// Message if the obligation is not met.
    pub missing: String,
    /// Description.
    pub description: String,
}
