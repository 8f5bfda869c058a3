//! Shelves: the calls that fit one matcher in one scope, by the members that `same` compares.

use std::collections::HashMap;

use super::{Call, CallId};
use crate::rules::{Link, Role};
use crate::values::{Fit, Key, MemberValue};

/// Calls of one matcher in one scope. Calls that can no longer affect a verdict are dropped.
#[derive(Debug, Default)]
pub(crate) struct CallIndex {
    exact: HashMap<Vec<Key>, Vec<CallId>>,
    /// Calls with a member that cannot be decided.
    wild: Vec<CallId>,
}

/// Maximum number of keys of an index.
const MAX_KEYS: usize = 10_000;
/// Number of facts of a premise that are kept beyond those needed.
const SPARE: usize = 16;

/// Place of a call in an index.
enum Place {
    Exact(Vec<Key>),
    Wild,
    /// The call equals no other.
    Nowhere,
}

fn place(members: &[MemberValue]) -> Place {
    let mut keys = Vec::with_capacity(members.len());
    let mut is_wild = false;
    for member in members {
        match member {
            MemberValue::Missing => return Place::Nowhere,
            MemberValue::Key(key) => keys.push(*key),
            MemberValue::Incomparable | MemberValue::Unknown | MemberValue::Pending => is_wild = true,
        }
    }
    if is_wild { Place::Wild } else { Place::Exact(keys) }
}

impl CallIndex {
    /// Returns the calls whose members may equal the given ones.
    pub(crate) fn matching(&self, members: &[MemberValue]) -> impl Iterator<Item = CallId> {
        let (exact, all) = match place(members) {
            Place::Exact(keys) => (self.exact.get(&keys), false),
            Place::Wild => (None, true),
            Place::Nowhere => return None.into_iter().flatten().chain([].iter()).chain([].iter()).copied(),
        };
        let every = all.then(|| self.exact.values().flatten());
        every.into_iter().flatten().chain(exact.map_or([].iter(), |ids| ids.iter())).chain(self.wild.iter()).copied()
    }

    /// Returns whether a call with these members would exceed the limits of the index.
    pub(crate) fn is_full_for(&self, members: &[MemberValue]) -> bool {
        match place(members) {
            Place::Exact(keys) => self.exact.len() >= MAX_KEYS && !self.exact.contains_key(&keys),
            Place::Wild => self.exact.len() >= MAX_KEYS || self.wild.len() >= MAX_KEYS,
            Place::Nowhere => false,
        }
    }

    /// Adds a call, and returns the calls that are no longer held, possibly this one.
    pub(crate) fn add(&mut self, link: &Link, id: CallId, calls: &HashMap<CallId, Call>) -> Vec<CallId> {
        let Some(call) = calls.get(&id) else { return Vec::new() };
        let mut dropped = Vec::new();
        let list = match place(&call.compared(link)) {
            Place::Nowhere => return vec![id],
            Place::Wild => &mut self.wild,
            Place::Exact(keys) => {
                if self.exact.len() >= MAX_KEYS && !self.exact.contains_key(&keys) {
                    let oldest = self.exact.iter().min_by_key(|(_, ids)| ids.last()).map(|(keys, _)| keys.clone());
                    dropped.extend(oldest.and_then(|oldest| self.exact.remove(&oldest)).into_iter().flatten());
                }
                self.exact.entry(keys).or_default()
            }
        };
        list.push(id);
        dropped.extend(trim(link, list, calls));
        dropped
    }

    pub(crate) fn remove(&mut self, link: &Link, call: &Call) -> bool {
        let list = match place(&call.compared(link)) {
            Place::Nowhere => return false,
            Place::Wild => Some(&mut self.wild),
            Place::Exact(keys) => self.exact.get_mut(&keys),
        };
        let Some(list) = list else { return false };
        let before = list.len();
        list.retain(|id| *id != call.id);
        list.len() < before
    }

    /// Removes the calls that a predicate selects, and returns them.
    pub(crate) fn sweep(&mut self, is_over: impl Fn(CallId) -> bool) -> Vec<CallId> {
        let mut dropped = Vec::new();
        let mut sweep = |ids: &mut Vec<CallId>| {
            ids.retain(|id| {
                let over = is_over(*id);
                dropped.extend(over.then_some(*id));
                !over
            });
        };
        self.exact.values_mut().for_each(&mut sweep);
        sweep(&mut self.wild);
        self.exact.retain(|_, ids| !ids.is_empty());
        dropped
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = CallId> {
        self.exact.values().flatten().chain(&self.wild).copied()
    }
}

/// Drops the calls that a later one makes redundant. A call in flight always stays, since its end is unknown.
fn trim(link: &Link, list: &mut Vec<CallId>, calls: &HashMap<CallId, Call>) -> Vec<CallId> {
    let kept = match link.watch.role {
        Role::Permits => SPARE + link.watch.times,
        Role::Limits(calls) => calls + 1,
        Role::Forbids => link.watch.times,
        Role::Cancels | Role::Lifts => 2,
        Role::Settles => 0,
    };
    let Some(new) = list.last().and_then(|id| calls.get(id)).filter(|_| list.len() > kept) else { return Vec::new() };
    // One call can stand for another only if they are alike in everything that a verdict depends on.
    let alike = |call: &Call| -> (Fit, bool, Vec<Vec<MemberValue>>) {
        let Some(link) = link.watch.link(&call.tool) else { return (Fit::No, false, Vec::new()) };
        let untils = link.untils.iter().map(|members| call.members(members));
        (call.fit(&link), call.is_broken, untils.chain([call.compared(&link)]).collect())
    };
    let rank = |call: &Call| match link.watch.role {
        Role::Forbids => (call.end(), call.moment(link.watch.was).forbids),
        Role::Cancels => (call.end(), i64::MIN),
        Role::Lifts => (call.start(), i64::MIN),
        _ => (call.moment(link.watch.was).position, i64::MIN),
    };
    let group = alike(new);
    let ended = list.iter().filter_map(|id| calls.get(id)).filter(|call| !call.is_in_flight());
    let mut group: Vec<_> = ended.filter(|call| alike(call) == group).map(|call| (rank(call), call.id)).collect();
    group.sort_unstable_by(|a, b| b.cmp(a));
    // A ban with a window also keeps a call that ended earlier but began later.
    let mut dropped = Vec::new();
    for (index, ((_, second), id)) in group.iter().enumerate() {
        let longer = group.iter().take(index).filter(|((_, other), _)| other >= second).count();
        if longer >= kept {
            dropped.push(*id);
        }
    }
    list.retain(|id| !dropped.contains(id));
    dropped
}
