//! Calls that wait for a confirmation, as a log shows them.
//!
//! The decision that lets such a call go on is `allowed` in the log, and the confirmation is an entry of its own. The decision says
//! `needs_confirmation`. Older logs do not have that member: there it follows from the grants that the decision rests on, whose
//! entries say what they are for, and whether they are pre-granted. That misses tools with `always_confirm` whose grants need none.

use std::collections::{BTreeMap, BTreeSet};

use omen_gate::Permission;
use omen_gate::audit::Logged;
use serde_json::Value;

#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// The grants in force whose use needs a confirmation.
    asking: BTreeSet<u64>,
    /// The calls that wait, by turn: several calls of an episode may wait at once.
    open: BTreeMap<String, BTreeSet<String>>,
    /// How many waited when their gate was killed. No gate asks about them any more, and none denied them.
    abandoned: usize,
}

impl Waiting {
    /// Takes the next entry, and says whether it is a decision after which its call waits.
    pub(super) fn sees(&mut self, entry: Logged<'_>) -> bool {
        match entry.kind().as_str() {
            // Another gate, with grants of its own. Nobody waits any more.
            "opened" | "repaired" => *self = Self { abandoned: self.abandoned + self.len(), ..Self::default() },
            "grant" => grants(entry).for_each(|(id, grant)| {
                if asks(grant) {
                    self.asking.insert(id);
                } else {
                    self.asking.remove(&id);
                }
            }),
            kind => {
                let Some(turn) = entry.turn() else { return false };
                let call = text(entry, "call");
                if kind == "decision" && self.waits(entry) {
                    self.open.entry(turn.to_owned()).or_default().insert(call.unwrap_or_default().to_owned());
                    return true;
                }
                match call {
                    Some(call) => self.ends(turn, call),
                    // A rule that refuses does not name the call. What is only tried, or left out of a list, ends none.
                    None if kind == "turn" || text(entry, "outcome") == Some("denied") => {
                        self.open.remove(turn);
                    }
                    None => {}
                }
            }
        }
        false
    }

    /// How many calls wait that nothing more was recorded of.
    pub(super) fn len(&self) -> usize {
        self.open.values().map(BTreeSet::len).sum()
    }

    /// How many calls waited when an earlier gate was killed.
    pub(super) fn abandoned(&self) -> usize {
        self.abandoned
    }

    fn ends(&mut self, turn: &str, call: &str) {
        let Some(calls) = self.open.get_mut(turn) else { return };
        calls.remove(call);
        if calls.is_empty() {
            self.open.remove(turn);
        }
    }

    fn waits(&self, entry: Logged<'_>) -> bool {
        let is_marked = || entry.data().get("needs_confirmation").and_then(Value::as_bool).unwrap_or(false);
        text(entry, "outcome") == Some("allowed")
            && text(entry, "stage") == Some("authorization")
            && (is_marked() || self.rests_on_asking(entry))
    }

    /// Whether one of the grants that a decision rests on needs a confirmation.
    fn rests_on_asking(&self, entry: Logged<'_>) -> bool {
        let grants = entry.data().get("grants").and_then(Value::as_array);
        grants.into_iter().flatten().filter_map(Value::as_u64).any(|id| self.asking.contains(&id))
    }
}

fn text<'e>(entry: Logged<'e>, member: &str) -> Option<&'e str> {
    entry.data().get(member).and_then(Value::as_str)
}

/// The grants that an entry gives, by their ids.
fn grants(entry: Logged<'_>) -> impl Iterator<Item = (u64, &Value)> {
    let grants = entry.data().get("grants").and_then(Value::as_array);
    grants.into_iter().flatten().filter_map(|grant| Some((grant.get("id")?.as_u64()?, grant)))
}

fn asks(grant: &Value) -> bool {
    let permission: Option<Permission> =
        grant.get("permission").and_then(|name| serde_json::from_value(name.clone()).ok());
    let is_pre_granted = grant.get("pre_granted").and_then(Value::as_bool).unwrap_or(false);
    permission.is_some_and(Permission::needs_confirmation) && !is_pre_granted
}
