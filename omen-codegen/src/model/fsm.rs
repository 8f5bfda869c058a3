//! The state machine as `episode.fsm.json` has it.

use super::cells::{self, Cells};
use super::layers::{self, Layers};
use super::table::{Derived, Event, Obligation, Row, State, derived, event, obligation, row, state};
use super::typed::{self, TypedApi};
use super::{At, each, strings, text};
use crate::json::Json;
use crate::mistake::Mistake;

/// The state machine.
#[derive(Clone, Debug)]
pub struct Fsm {
    /// The states, in order.
    pub states: Vec<State>,
    /// What can happen.
    pub events: Vec<Event>,
    /// The facts about packets that code derives.
    pub derived: Vec<Derived>,
    /// The transition table.
    pub rows: Vec<Row>,
    /// The state of the verification loop.
    pub loop_state: String,
    /// The event that opens the loop.
    pub loop_opened_by: String,
    /// The event that closes it.
    pub loop_closed_by: String,
    /// What must have come before the loop may close.
    pub obligations: Vec<Obligation>,
    /// Events whose packets count as the loop's evidence.
    pub evidence_events: Vec<String>,
    /// Said when the closing packet names no evidence.
    pub evidence_missing: String,
    /// The code of each cell; empty if the file has none.
    pub cells: Cells,
    /// Who sends what; empty if the file does not say.
    pub layers: Layers,
    /// The typed API; empty if the file has none.
    pub typed: TypedApi,
}

/// Reads the state machine. What [`Fsm::places`] finds is added by the caller.
pub(super) fn build(at: &At<'_>, json: &Json) -> Result<Fsm, Mistake> {
    let looped = json.get("verification_loop").ok_or_else(|| at.wrong("no `verification_loop`"))?;
    let loop_at = at.join("verification_loop");
    let evidence = looped.get("evidence").ok_or_else(|| loop_at.wrong("no `evidence`"))?;
    Ok(Fsm {
        states: each(at, json, "states", state)?,
        events: each(at, json, "events", event)?,
        derived: each(at, json, "derived", derived)?,
        rows: each(at, json, "rows", row)?,
        loop_state: text(&loop_at, looped, "state")?,
        loop_opened_by: text(&loop_at, looped, "opened_by")?,
        loop_closed_by: text(&loop_at, looped, "closed_by")?,
        obligations: each(&loop_at, looped, "obligations", obligation)?,
        evidence_events: strings(evidence, "events"),
        evidence_missing: text(&loop_at.join("evidence"), evidence, "missing")?,
        cells: match json.get("cells") {
            Some(json) => cells::build(&at.join("cells"), json)?,
            None => Cells::default(),
        },
        layers: match json.get("layers") {
            Some(json) => layers::build(&at.join("layers"), json)?,
            None => Layers::default(),
        },
        typed: match json.get("typed") {
            Some(json) => typed::build(&at.join("typed"), json)?,
            None => TypedApi::default(),
        },
    })
}
