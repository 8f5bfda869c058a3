//! The transition table: states, events with their guards, rows, and what the verification loop needs.

use super::{At, each, strings, text};
use crate::json::Json;
use crate::mistake::Mistake;

/// A state.
#[derive(Clone, Debug)]
pub struct State {
    /// Such as `S3_DECIDE`.
    pub id: String,
    /// Rust name, such as `Decide`.
    pub name: String,
    /// A word or two that complete "the episode is …".
    pub title: String,
    /// What it means.
    pub description: String,
    /// Whether episodes start here.
    pub initial: bool,
    /// Its sub-states; empty if it has none.
    pub substates: Vec<SubState>,
}

/// A sub-state.
#[derive(Clone, Debug)]
pub struct SubState {
    /// Such as `ACT`.
    pub id: String,
    /// Rust name, such as `Act`.
    pub name: String,
    /// What it means.
    pub description: String,
}

/// Something that can happen: a packet type with guards on its content, or the end.
#[derive(Clone, Debug)]
pub struct Event {
    /// Such as `decide_act`.
    pub id: String,
    /// The packet type; `None` for the end of the stream.
    pub packet: Option<String>,
    /// All must hold.
    pub when: Vec<Guard>,
    /// What it is, in words.
    pub description: String,
}

/// A condition on a packet's content.
#[derive(Clone, Debug)]
pub struct Guard {
    /// What it checks.
    pub on: GuardOn,
    /// The values that pass.
    pub values: Vec<String>,
}

/// What a guard checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GuardOn {
    /// The member at this JSON pointer.
    Pointer(String),
    /// A fact that code derives from the packet.
    Derived(String),
}

/// A fact about packets that code derives, which guards check.
#[derive(Clone, Debug)]
pub struct Derived {
    /// Such as `safety_class`.
    pub id: String,
    /// The enum of its values; `None` if their type is written by hand.
    pub of: Option<String>,
}

/// A row of the table.
#[derive(Clone, Debug)]
pub struct Row {
    /// The states, or states with sub-state (`S3_DECIDE/ACT`), or `ANY`.
    pub from: Vec<String>,
    /// The events.
    pub events: Vec<String>,
    /// Where it leads; several if the table is nondeterministic here.
    pub to: Vec<Target>,
    /// What it means.
    pub description: String,
    /// Where it comes from.
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

/// As `from` of a row: every state; as an event of a refusal: every packet.
pub(super) const ANY: &str = "ANY";

/// Where a row leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Stays where it is.
    Same,
    /// A state, or a state with sub-state.
    State(String),
}

/// Something that the verification loop needs.
#[derive(Clone, Debug)]
pub struct Obligation {
    /// Such as `plan`.
    pub id: String,
    /// Rust name, such as `Plan`.
    pub name: String,
    /// The events that meet it.
    pub events: Vec<String>,
    /// Conditions on the packet besides.
    pub when: Vec<Guard>,
    /// The obligation stands only if the packet before the closing one passes this.
    pub waived_unless: Option<Guard>,
    /// Said when it is not met.
    pub missing: String,
    /// What it means.
    pub description: String,
}

pub(super) fn state(at: &At<'_>, json: &Json) -> Result<State, Mistake> {
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

pub(super) fn derived(at: &At<'_>, json: &Json) -> Result<Derived, Mistake> {
    Ok(Derived { id: text(at, json, "id")?, of: json.get("enum").and_then(Json::as_str).map(str::to_owned) })
}

pub(super) fn event(at: &At<'_>, json: &Json) -> Result<Event, Mistake> {
    Ok(Event {
        id: text(at, json, "id")?,
        packet: json.get("packet").and_then(Json::as_str).map(str::to_owned),
        when: each(at, json, "when", guard)?,
        description: text(at, json, "description")?,
    })
}

fn guard(at: &At<'_>, json: &Json) -> Result<Guard, Mistake> {
    let on = match (json.get("pointer").and_then(Json::as_str), json.get("derived").and_then(Json::as_str)) {
        (Some(pointer), None) => GuardOn::Pointer(pointer.to_owned()),
        (None, Some(derived)) => GuardOn::Derived(derived.to_owned()),
        _ => return Err(at.wrong("a guard has either `pointer` or `derived`")),
    };
    Ok(Guard { on, values: strings(json, "in") })
}

pub(super) fn row(at: &At<'_>, json: &Json) -> Result<Row, Mistake> {
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

pub(super) fn obligation(at: &At<'_>, json: &Json) -> Result<Obligation, Mistake> {
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
