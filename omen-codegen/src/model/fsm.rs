//! State machine as defined in `episode.fsm.json`.

use serde::Deserialize;

use super::cells::Cells;
use super::layers::Layers;
use super::table::{Derived, Event, Obligation, Row, State};
use super::typed::TypedApi;

/// State machine.
#[derive(Clone, Debug, Deserialize)]
pub struct Fsm {
    /// States, in order.
    #[serde(default)]
    pub states: Vec<State>,
    /// Events.
    #[serde(default)]
    pub events: Vec<Event>,
    /// Facts about packets that are derived by code.
    #[serde(default)]
    pub derived: Vec<Derived>,
    /// Transition table.
    #[serde(default)]
    pub rows: Vec<Row>,
    /// Verification loop.
    pub verification_loop: VerificationLoop,
    /// Code of each cell; empty if the file defines none.
    #[serde(default)]
    pub cells: Cells,
    /// Senders of packets; empty if the file defines none.
    #[serde(default)]
    pub layers: Layers,
    /// Typed API; empty if the file defines none.
    #[serde(default)]
    pub typed: TypedApi,
}

/// Verification loop.
#[derive(Clone, Debug, Deserialize)]
pub struct VerificationLoop {
    /// State in which the loop runs.
    pub state: String,
    /// Event that opens the loop.
    pub opened_by: String,
    /// Event that closes the loop.
    pub closed_by: String,
    /// Requirements for closing the loop.
    #[serde(default)]
    pub obligations: Vec<Obligation>,
    /// Packets that count as evidence of the loop.
    pub evidence: LoopEvidence,
}

/// Evidence of the verification loop.
#[derive(Clone, Debug, Deserialize)]
pub struct LoopEvidence {
    /// Events whose packets count as evidence.
    #[serde(default)]
    pub events: Vec<String>,
    /// Message for a closing packet that names no evidence.
    pub missing: String,
}
