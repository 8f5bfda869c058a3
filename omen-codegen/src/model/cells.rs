//! The code of each cell: for a state and an event, the rules that refuse it, and what they depend on.
//!
//! One list of `episode.fsm.json` says it for both engines: the runtime machine goes through the list with
//! the facts of the log before it, and the typed API with every combination of facts that a log can have.

use std::collections::BTreeSet;

use super::table::ANY;
use super::{At, each, strings, text};
use crate::json::Json;
use crate::mistake::Mistake;

/// The fact that a typed state with open directives stands for.
pub const OPEN: &str = "open";

/// The refusals, and the facts that they depend on.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    /// What a refusal may depend on besides state and event.
    pub facts: Vec<Fact>,
    /// The refusals, the most specific first.
    pub refusals: Vec<Refusal>,
    /// Every place that a legal log leads to.
    pub(super) places: BTreeSet<Place>,
}

/// Something that is true of an episode's log, or of the packet under check.
#[derive(Clone, Debug)]
pub struct Fact {
    /// Such as `believed`.
    pub id: String,
    /// The events that make it true; none if it is a fact of the packet under check.
    pub set_by: Vec<String>,
    /// The events that make it false.
    pub cleared_by: Vec<String>,
    /// The events that may make it false.
    pub may_clear: Vec<String>,
    /// The fact without which it is false.
    pub only_with: Option<String>,
    /// What it says.
    pub description: String,
}

/// A reason to refuse an event.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The code.
    pub code: String,
    /// The states, or states with sub-state, or `ANY`.
    pub within: Vec<String>,
    /// The states that are left out.
    pub except: Vec<String>,
    /// The events, or `ANY` for every packet.
    pub events: Vec<String>,
    /// Whether it applies only where the table has no row.
    pub without_row: bool,
    /// The fact on which it depends, and the value with which it applies.
    pub fact: Option<(String, bool)>,
    /// Whether only the typed API refuses it.
    pub typed: bool,
    /// Why it is refused.
    pub description: String,
    /// Where it comes from.
    pub source: String,
}

/// Where a log may be: its nodes, as bits, and the facts that hold, as bits.
pub(super) type Place = (u32, u32);

impl Refusal {
    /// Whether it is about a node.
    #[must_use]
    pub fn is_in(&self, node: &str) -> bool {
        let means = |ids: &[String]| {
            let state = node.split_once('/').map_or(node, |(state, _)| state);
            ids.iter().any(|id| id == ANY || id == node || id == state)
        };
        means(&self.within) && !means(&self.except)
    }

    /// Whether it is about an event.
    #[must_use]
    pub fn is_about(&self, event: &str, is_packet: bool) -> bool {
        self.events.iter().any(|id| id == event || id == ANY && is_packet)
    }
}

pub(super) fn build(at: &At<'_>, json: &Json) -> Result<Cells, Mistake> {
    Ok(Cells {
        facts: each(at, json, "facts", fact)?,
        refusals: each(at, json, "refusals", refusal)?,
        places: BTreeSet::new(),
    })
}

fn fact(at: &At<'_>, json: &Json) -> Result<Fact, Mistake> {
    Ok(Fact {
        id: text(at, json, "id")?,
        set_by: strings(json, "set_by"),
        cleared_by: strings(json, "cleared_by"),
        may_clear: strings(json, "may_clear"),
        only_with: json.get("only_with").and_then(Json::as_str).map(str::to_owned),
        description: text(at, json, "description")?,
    })
}

fn refusal(at: &At<'_>, json: &Json) -> Result<Refusal, Mistake> {
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
