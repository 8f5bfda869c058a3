//! Code of each cell: the rules that refuse an event in a state, and the facts on which they depend.
//!
//! One list in `episode.fsm.json` serves both engines: the runtime machine evaluates it with the facts of the log so
//! far, and the typed API with every combination of facts that a log can have.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::table::ANY;

/// Fact that a typestate with open directives represents.
pub const OPEN: &str = "open";

/// Refusals, and the facts on which they depend.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Cells {
    /// Conditions other than state and event on which refusals depend.
    pub facts: Vec<Fact>,
    /// Refusals, the most specific first.
    pub refusals: Vec<Refusal>,
    /// Every position that a legal log can reach.
    #[serde(skip)]
    pub(super) places: BTreeSet<LogPosition>,
}

/// Property of an episode's log, or of the packet under check.
#[derive(Clone, Debug, Deserialize)]
pub struct Fact {
    /// Id, such as `believed`.
    pub id: String,
    /// Events that make the fact true; empty for a fact about the packet under check.
    #[serde(default)]
    pub set_by: Vec<String>,
    /// Events that make the fact false.
    #[serde(default)]
    pub cleared_by: Vec<String>,
    /// Events that may make the fact false.
    #[serde(default)]
    pub may_clear: Vec<String>,
    /// Fact that this fact implies: without it, this fact is false.
    pub only_with: Option<String>,
    /// Description.
    pub description: String,
}

/// Reason to refuse an event.
#[derive(Clone, Debug, Deserialize)]
pub struct Refusal {
    /// Code of the finding.
    pub code: String,
    /// States, or states with sub-state, or `ANY`.
    #[serde(default, rename = "in")]
    pub within: Vec<String>,
    /// States that are excluded.
    #[serde(default)]
    pub except: Vec<String>,
    /// Events, or `ANY` for every packet.
    #[serde(default)]
    pub events: Vec<String>,
    /// Whether the refusal applies only to cells without a row.
    #[serde(default)]
    pub without_row: bool,
    /// Fact that must be true for the refusal to apply.
    #[serde(rename = "if")]
    pub only_if: Option<String>,
    /// Fact that must be false for the refusal to apply.
    pub unless: Option<String>,
    /// Whether only the typed API uses the refusal.
    #[serde(default)]
    pub typed: bool,
    /// Reason for the refusal.
    pub description: String,
    /// Source: decisions, or sections of the protocol documents.
    pub source: String,
}

/// Position of a log: its nodes as bits, and the facts that hold, also as bits.
pub(super) type LogPosition = (u32, u32);

impl Refusal {
    /// Returns the fact on which the refusal depends, and the value for which it applies.
    #[must_use]
    pub fn fact(&self) -> Option<(&str, bool)> {
        let must_hold = self.only_if.as_deref().map(|fact| (fact, true));
        must_hold.or_else(|| self.unless.as_deref().map(|fact| (fact, false)))
    }

    /// Returns whether the refusal applies to a node.
    #[must_use]
    pub fn is_in(&self, node: &str) -> bool {
        let means = |ids: &[String]| {
            let state = node.split_once('/').map_or(node, |(state, _)| state);
            ids.iter().any(|id| id == ANY || id == node || id == state)
        };
        means(&self.within) && !means(&self.except)
    }

    /// Returns whether the refusal applies to an event.
    #[must_use]
    pub fn is_about(&self, event: &str, is_packet: bool) -> bool {
        self.events.iter().any(|id| id == event || id == ANY && is_packet)
    }
}
