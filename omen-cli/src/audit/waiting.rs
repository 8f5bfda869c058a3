//! Calls that wait for a confirmation, as a log shows them.
//!
//! The decision that lets such a call go on is `allowed` in the log, and the confirmation is an entry of its own. Whether one is
//! needed follows from the grants that the decision rests on: their entries say what they are for, and whether they are pre-granted.
//! What does not follow is a tool with `always_confirm` whose grants need none.

use std::collections::BTreeSet;

use omen_gate::Permission;
use omen_gate::audit::Logged;
use serde_json::Value;

#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// The grants in force whose use needs a confirmation.
    asking: BTreeSet<u64>,
    /// The turns whose call waits.
    open: BTreeSet<String>,
}

impl Waiting {
    /// Takes the next entry, and says whether it is a decision after which its call waits.
    pub(super) fn sees(&mut self, entry: Logged<'_>) -> bool {
        match entry.kind().as_str() {
            // Another gate, with grants of its own. Nobody waits any more.
            "opened" | "repaired" => *self = Self::default(),
            "grant" => grants(entry).for_each(|(id, grant)| {
                if asks(grant) {
                    self.asking.insert(id);
                } else {
                    self.asking.remove(&id);
                }
            }),
            kind => {
                let Some(turn) = entry.turn() else { return false };
                let waits = kind == "decision" && self.waits(entry);
                if waits {
                    self.open.insert(turn.to_owned());
                } else {
                    self.open.remove(turn);
                }
                return waits;
            }
        }
        false
    }

    /// How many calls wait that nothing more was recorded of.
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    fn waits(&self, entry: Logged<'_>) -> bool {
        let is = |member: &str, value: &str| entry.data().get(member).and_then(Value::as_str) == Some(value);
        is("outcome", "allowed")
            && is("stage", "authorization")
            && entry
                .data()
                .get("grants")
                .and_then(Value::as_array)
                .is_some_and(|grants| grants.iter().filter_map(Value::as_u64).any(|id| self.asking.contains(&id)))
    }
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
