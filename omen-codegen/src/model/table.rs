//! Transition table: states, events with their guards, rows, and the obligations of the verification loop.

use super::read::{Location, each, strings, text};
use crate::json::Json;
use crate::mistake::Mistake;

/// State of an episode.
#[derive(Clone, Debug)]
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
    pub initial: bool,
    /// Sub-states; may be empty.
    pub substates: Vec<SubState>,
}

/// Sub-state of a state.
#[derive(Clone, Debug)]
pub struct SubState {
    /// Id, such as `ACT`.
    pub id: String,
    /// Rust name, such as `Act`.
    pub name: String,
    /// Description.
    pub description: String,
}

/// Event: a packet type with guards on its content, or the end of the stream.
#[derive(Clone, Debug)]
pub struct Event {
    /// Id, such as `decide_act`.
    pub id: String,
    /// Packet type; `None` for the end of the stream.
    pub packet: Option<String>,
    /// Guards, all of which must match.
    pub when: Vec<Guard>,
    /// Description.
    pub description: String,
}

/// Condition on a packet's content.
#[derive(Clone, Debug)]
pub struct Guard {
    /// Value to check.
    pub on: GuardOn,
    /// Values that match.
    pub values: Vec<String>,
}

/// Value that a guard checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GuardOn {
    /// Member at a JSON pointer.
    Pointer(String),
    /// Fact that code derives from the packet.
    Derived(String),
}

/// Fact about packets that code derives, for guards to check.
#[derive(Clone, Debug)]
pub struct Derived {
    /// Id, such as `safety_class`.
    pub id: String,
    /// Enum of its values; `None` if their type is written by hand.
    pub of: Option<String>,
}

/// Row of the table.
#[derive(Clone, Debug)]
pub struct Row {
    /// Source states, or states with sub-state (`S3_DECIDE/ACT`), or `ANY`.
    pub from: Vec<String>,
    /// Events.
    pub events: Vec<String>,
    /// Targets; several if the table is nondeterministic here.
    pub to: Vec<Target>,
    /// Description.
    pub description: String,
    /// Origin: decisions, or sections of the documents of the protocol.
    pub source: String,
}

impl Row {
    /// Whether it leads from a state, or a state with sub-state (`S3_DECIDE/ACT`).
    #[must_use]
    pub fn is_from(&self, node: &str) -> bool {
        let state = node.split_once('/').map_or(node, |(state, _)| state);
        self.from.iter().any(|from| from == ANY || from == node || from == state)
    }
}

/// Wildcard: in `from` of a row, every state; as an event of a refusal, every packet.
pub(super) const ANY: &str = "ANY";

/// Target of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The source state.
    Same,
    /// A state, or a state with sub-state.
    State(String),
}

/// Requirement for closing the verification loop.
#[derive(Clone, Debug)]
pub struct Obligation {
    /// Id, such as `plan`.
    pub id: String,
    /// Rust name, such as `Plan`.
    pub name: String,
    /// Events that meet it.
    pub events: Vec<String>,
    /// Additional conditions on the packet.
    pub when: Vec<Guard>,
    /// Guard on the packet before the closing one; unless it matches, the obligation is waived.
    pub waived_unless: Option<Guard>,
    /// Message if it is not met.
    pub missing: String,
    /// Description.
    pub description: String,
}

pub(super) fn state(at: &Location<'_>, json: &Json) -> Result<State, Mistake> {
    Ok(State {
        id: text(at, json, "id")?,
        name: text(at, json, "name")?,
        title: text(at, json, "title")?,
        description: text(at, json, "description")?,
        initial: json.get("initial").and_then(Json::as_bool).unwrap_or(false),
        substates: each(at, json, "substates", |at, json| {
            Ok(SubState {
                id: text(at, json, "id")?,
                name: text(at, json, "name")?,
                description: text(at, json, "description")?,
            })
        })?,
    })
}

pub(super) fn derived(at: &Location<'_>, json: &Json) -> Result<Derived, Mistake> {
    Ok(Derived { id: text(at, json, "id")?, of: json.get("enum").and_then(Json::as_str).map(str::to_owned) })
}

pub(super) fn event(at: &Location<'_>, json: &Json) -> Result<Event, Mistake> {
    Ok(Event {
        id: text(at, json, "id")?,
        packet: json.get("packet").and_then(Json::as_str).map(str::to_owned),
        when: each(at, json, "when", guard)?,
        description: text(at, json, "description")?,
    })
}

fn guard(at: &Location<'_>, json: &Json) -> Result<Guard, Mistake> {
    let on = match (json.get("pointer").and_then(Json::as_str), json.get("derived").and_then(Json::as_str)) {
        (Some(pointer), None) => GuardOn::Pointer(pointer.to_owned()),
        (None, Some(derived)) => GuardOn::Derived(derived.to_owned()),
        _ => return Err(at.wrong("a guard has either `pointer` or `derived`")),
    };
    Ok(Guard { on, values: strings(json, "in") })
}

pub(super) fn row(at: &Location<'_>, json: &Json) -> Result<Row, Mistake> {
    Ok(Row {
        from: strings(json, "from"),
        events: strings(json, "events"),
        to: strings(json, "to")
            .into_iter()
            .map(|to| if to == "SAME" { Target::Same } else { Target::State(to) })
            .collect(),
        description: text(at, json, "description")?,
        source: text(at, json, "source")?,
    })
}

pub(super) fn obligation(at: &Location<'_>, json: &Json) -> Result<Obligation, Mistake> {
    Ok(Obligation {
        id: text(at, json, "id")?,
        name: text(at, json, "name")?,
        events: strings(json, "events"),
        when: each(at, json, "when", guard)?,
        waived_unless: json.get("waived_unless").map(|json| guard(&at.join("waived_unless"), json)).transpose()?,
        missing: text(at, json, "missing")?,
        description: text(at, json, "description")?,
    })
}
