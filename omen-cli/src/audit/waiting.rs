//! Calls waiting for confirmation, according to a log.
//!
//! The decision that lets such a call continue is recorded as `allowed`, and the confirmation as a separate entry. The decision
//! has the member `needs_confirmation`. Older logs lack it; there, the need is inferred from the decision's grants, whose entries
//! state their purpose and whether they are pre-granted. That misses tools with `always_confirm` whose grants need no
//! confirmation.

use std::collections::{BTreeMap, BTreeSet};

use omen_gate::Permission;
use omen_gate::audit::Logged;
use serde_json::Value;

#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// Ids of grants in force that need confirmation for each use.
    asking: BTreeSet<u64>,
    /// Waiting calls by turn; several calls of one episode may wait at once.
    open: BTreeMap<String, BTreeSet<String>>,
    /// Number of calls still waiting when their gate was killed. They were never denied, and no gate will ask about them again.
    pub(super) abandoned: usize,
}

impl Waiting {
    /// Processes the next entry. Returns whether it is a decision whose call now waits.
    pub(super) fn sees(&mut self, entry: Logged<'_>) -> bool {
        match entry.kind().as_str() {
            // A new gate with new grants: earlier calls no longer wait.
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
                    // A refusal by a rule does not name the call. Shadow refusals and tools left out of a list end no wait.
                    None if kind == "turn" || text(entry, "outcome") == Some("denied") => {
                        self.open.remove(turn);
                    }
                    None => {}
                }
            }
        }
        false
    }

    /// Returns the number of calls that are still waiting.
    pub(super) fn len(&self) -> usize {
        self.open.values().map(BTreeSet::len).sum()
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

    /// Returns whether a grant used by a decision needs confirmation.
    fn rests_on_asking(&self, entry: Logged<'_>) -> bool {
        let grants = entry.data().get("grants").and_then(Value::as_array);
        grants.into_iter().flatten().filter_map(Value::as_u64).any(|id| self.asking.contains(&id))
    }
}

fn text<'e>(entry: Logged<'e>, member: &str) -> Option<&'e str> {
    entry.data().get(member).and_then(Value::as_str)
}

/// Returns the grants in an entry with their ids.
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
