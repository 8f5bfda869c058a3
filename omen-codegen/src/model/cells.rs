//! Code of each cell: the rules that refuse an event in a state, and the facts on which they depend.
//!
//! One list in `episode.fsm.json` serves both engines: the runtime machine evaluates it with the facts of the log so
//! far, and the typed API with every combination of facts that a log can have.

use std::collections::BTreeSet;

use super::read::{Location, each, strings, text};
use super::table::ANY;
use crate::json::Json;
use crate::mistake::Mistake;

/// Fact that a typestate with open directives represents.
pub const OPEN: &str = "open";

/// Refusals, and the facts on which they depend.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    /// Conditions other than state and event on which refusals depend.
    pub facts: Vec<Fact>,
    /// Refusals, the most specific first.
    pub refusals: Vec<Refusal>,
    /// Every position that a legal log can reach.
    pub(super) places: BTreeSet<LogPosition>,
}

/// Property of an episode's log, or of the packet under check.
#[derive(Clone, Debug)]
pub struct Fact {
    /// Id, such as `believed`.
    pub id: String,
    /// Events that make it true; empty for a fact about the packet under check.
    pub set_by: Vec<String>,
    /// Events that make it false.
    pub cleared_by: Vec<String>,
    /// Events that may make it false.
    pub may_clear: Vec<String>,
    /// Fact that it implies: without that fact, it is false.
    pub only_with: Option<String>,
    /// Description.
    pub description: String,
}

/// Reason to refuse an event.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// Code of the finding.
    pub code: String,
    /// States, or states with sub-state, or `ANY`.
    pub within: Vec<String>,
    /// States that are excluded.
    pub except: Vec<String>,
    /// Events, or `ANY` for every packet.
    pub events: Vec<String>,
    /// Whether it applies only to cells without a row.
    pub without_row: bool,
    /// Fact on which it depends, and the value for which it applies.
    pub fact: Option<(String, bool)>,
    /// Whether only the typed API uses it.
    pub typed: bool,
    /// Reason for the refusal.
    pub description: String,
    /// Origin: decisions, or sections of the documents of the protocol.
    pub source: String,
}

/// Position of a log: its nodes as bits, and the facts that hold as bits.
pub(super) type LogPosition = (u32, u32);

impl Refusal {
    /// Whether it applies to a node.
    #[must_use]
    pub fn is_in(&self, node: &str) -> bool {
        let means = |ids: &[String]| {
            let state = node.split_once('/').map_or(node, |(state, _)| state);
            ids.iter().any(|id| id == ANY || id == node || id == state)
        };
        means(&self.within) && !means(&self.except)
    }

    /// Whether it applies to an event.
    #[must_use]
    pub fn is_about(&self, event: &str, is_packet: bool) -> bool {
        self.events.iter().any(|id| id == event || id == ANY && is_packet)
    }
}

pub(super) fn build(at: &Location<'_>, json: &Json) -> Result<Cells, Mistake> {
    Ok(Cells {
        facts: each(at, json, "facts", fact)?,
        refusals: each(at, json, "refusals", refusal)?,
        places: BTreeSet::new(),
    })
}

fn fact(at: &Location<'_>, json: &Json) -> Result<Fact, Mistake> {
    Ok(Fact {
        id: text(at, json, "id")?,
        set_by: strings(json, "set_by"),
        cleared_by: strings(json, "cleared_by"),
        may_clear: strings(json, "may_clear"),
        only_with: json.get("only_with").and_then(Json::as_str).map(str::to_owned),
        description: text(at, json, "description")?,
    })
}

fn refusal(at: &Location<'_>, json: &Json) -> Result<Refusal, Mistake> {
    let named = |key: &str, value| json.get(key).and_then(Json::as_str).map(|fact| (fact.to_owned(), value));
    let flag = |key: &str| json.get(key).and_then(Json::as_bool).unwrap_or(false);
    Ok(Refusal {
        code: text(at, json, "code")?,
        within: strings(json, "in"),
        except: strings(json, "except"),
        events: strings(json, "events"),
        without_row: flag("without_row"),
        fact: named("if", true).or_else(|| named("unless", false)),
        typed: flag("typed"),
        description: text(at, json, "description")?,
        source: text(at, json, "source")?,
    })
}
