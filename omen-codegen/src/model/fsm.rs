//! State machine as `episode.fsm.json` defines it.

use super::cells::{self, Cells};
use super::layers::{self, Layers};
use super::read::{Location, each, strings, text};
use super::table::{Derived, Event, Obligation, Row, State, derived, event, obligation, row, state};
use super::typed::{self, TypedApi};
use crate::json::Json;
use crate::mistake::Mistake;

/// State machine.
#[derive(Clone, Debug)]
pub struct Fsm {
    /// States, in order.
    pub states: Vec<State>,
    /// Events.
    pub events: Vec<Event>,
    /// Facts about packets that code derives.
    pub derived: Vec<Derived>,
    /// Transition table.
    pub rows: Vec<Row>,
    /// State of the verification loop.
    pub loop_state: String,
    /// Event that opens the loop.
    pub loop_opened_by: String,
    /// Event that closes the loop.
    pub loop_closed_by: String,
    /// Requirements for closing the loop.
    pub obligations: Vec<Obligation>,
    /// Events whose packets count as the loop's evidence.
    pub evidence_events: Vec<String>,
    /// Message for a closing packet that names no evidence.
    pub evidence_missing: String,
    /// Code of each cell; empty if the file defines none.
    pub cells: Cells,
    /// Senders of packets; empty if the file defines none.
    pub layers: Layers,
    /// Typed API; empty if the file defines none.
    pub typed: TypedApi,
}

/// Builds the state machine. The caller adds the result of [`Fsm::places`].
pub(super) fn build(at: &Location<'_>, json: &Json) -> Result<Fsm, Mistake> {
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
