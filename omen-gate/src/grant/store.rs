//! The grants behind the lock.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use tokio::sync::Notify;

use super::{Grant, GrantId};
use crate::base::{Blocked, GateCode, Permission, Ratchet, ToolId};
use crate::call::Call;

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) clock: Arc<Ratchet>,
    pub(super) store: Mutex<Store>,
    /// Calls that run wait for what is revoked.
    pub(super) revoked: Notify,
}

/// What is behind the lock.
#[derive(Debug, Default)]
pub(super) struct Store {
    last: u64,
    count: usize,
    /// What the configuration in force lists, also where it is dead and forgotten.
    pub(super) defaults: Vec<(GrantId, Grant)>,
    entries: BTreeMap<ToolId, BTreeMap<Permission, Vec<Entry>>>,
}

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) id: GrantId,
    pub(super) grant: Grant,
    /// Uses left, if they are counted.
    left: Option<u32>,
    /// Whether it is in force, from its record on.
    pub(super) given: bool,
    pub(super) revoked: bool,
    /// A call that rests on this grant holds it ([`Held`]).
    held: Arc<()>,
}

/// How many grants a store holds.
pub const MAX_GRANTS: usize = 4096;

/// The grant that a call rests on for one permission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pick {
    pub(super) permission: Permission,
    pub(super) id: GrantId,
    pub(super) pre_granted: bool,
    /// Its uses are counted.
    pub(super) counted: bool,
}

/// Keeps the grants that a call rests on from being forgotten.
#[derive(Debug)]
pub(super) struct Held(#[expect(dead_code, reason = "it is there to be counted")] Vec<Arc<()>>);

impl Shared {
    /// A panic with the lock held cannot leave half a change, for every change is a single assignment or
    /// comes after all checks.
    pub(super) fn lock(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store {
    fn of(&self, tool: &ToolId, permission: Permission) -> &[Entry] {
        self.entries.get(tool).and_then(|permissions| permissions.get(&permission)).map_or(&[], Vec::as_slice)
    }

    pub(super) fn of_mut(&mut self, tool: &ToolId, permission: Permission) -> &mut [Entry] {
        let entries = self.entries.get_mut(tool).and_then(|permissions| permissions.get_mut(&permission));
        entries.map_or(&mut [], Vec::as_mut_slice)
    }

    /// Adds a grant that is not in force yet.
    pub(super) fn add(&mut self, grant: Grant, now: SystemTime) -> Result<GrantId, Blocked> {
        if self.count >= MAX_GRANTS {
            self.forget_dead(now);
        }
        if self.count >= MAX_GRANTS {
            let message = format!("{MAX_GRANTS} grants are already in force");
            return Err(Blocked::new(GateCode::G1, message, "revoke grants that are no longer needed"));
        }
        self.last += 1;
        self.count += 1;
        let id = GrantId(self.last);
        let left = grant.uses.map(std::num::NonZeroU32::get);
        let entries = self.entries.entry(grant.tool.clone()).or_default().entry(grant.permission).or_default();
        entries.push(Entry { id, grant, left, given: false, revoked: false, held: Arc::default() });
        Ok(id)
    }

    pub(super) fn by_id(&mut self, id: GrantId) -> Option<&mut Entry> {
        self.entries.values_mut().flat_map(BTreeMap::values_mut).flatten().find(|entry| entry.id == id)
    }

    /// Revokes all grants of which something holds.
    pub(super) fn revoke_where(&mut self, holds: impl Fn(&Grant) -> bool) -> Vec<(GrantId, Grant)> {
        let entries = self.entries.values_mut().flat_map(BTreeMap::values_mut).flatten();
        let revoked = entries.filter(|entry| !entry.revoked && holds(&entry.grant)).map(|entry| {
            entry.revoked = true;
            (entry.id, entry.grant.clone())
        });
        revoked.collect()
    }

    /// Takes uses of grants that were taken before. Of two grants that are the same, the older one has had the first.
    pub(super) fn spend(&mut self, mut spent: impl FnMut(&Grant, u32) -> u32) {
        for entry in self.entries.values_mut().flat_map(BTreeMap::values_mut).flatten() {
            if let Some(left) = entry.left {
                entry.left = Some(left.saturating_sub(spent(&entry.grant, left)));
            }
        }
    }

    /// Dead grants are kept while there is room, because they explain refusals; those that a call rests on, and
    /// those that are yet to be given, in any case.
    fn forget_dead(&mut self, now: SystemTime) {
        for permissions in self.entries.values_mut() {
            for entries in permissions.values_mut() {
                entries.retain(|entry| entry.is_needed(now));
            }
            permissions.retain(|_, entries| !entries.is_empty());
        }
        self.entries.retain(|_, permissions| !permissions.is_empty());
        self.count = self.entries.values().flat_map(BTreeMap::values).map(Vec::len).sum();
    }

    /// For each permission a live grant: one that needs no confirmation if there is one, else the oldest.
    pub(super) fn pick(&self, call: &Call, now: SystemTime) -> Result<Vec<Pick>, Blocked> {
        let tool = call.tool();
        let pick = |permission| {
            let entries = self.of(tool, permission);
            let live = entries.iter().filter(|entry| entry.death(now).is_none());
            match (live.min_by_key(|entry| (!entry.grant.pre_granted, entry.id)), entries.last()) {
                (Some(entry), _) => Ok(entry.pick()),
                (None, Some(last)) => Err(dead(tool, permission, last.death(now))),
                (None, None) => {
                    let message = format!("there is no grant of `{permission}` for `{tool}`");
                    let help = "add a grant to the configuration, or ask the operator for one";
                    Err(Blocked::new(GateCode::G1, message, help))
                }
            }
        };
        call.demand().permissions.iter().map(pick).collect()
    }

    /// When the first of some grants expires, if any does.
    pub(super) fn expiry(&self, tool: &ToolId, picks: &[Pick]) -> Option<(SystemTime, Permission)> {
        let of = |pick: &Pick| self.of(tool, pick.permission).iter().find(|entry| entry.id == pick.id);
        let expiry = |entry: &Entry| Some((entry.grant.expires?, entry.grant.permission));
        picks.iter().filter_map(of).filter_map(expiry).min()
    }

    /// Whether each grant still stands, with its last use perhaps taken.
    pub(super) fn stand(&self, tool: &ToolId, picks: &[Pick], now: SystemTime) -> Result<(), Blocked> {
        for pick in picks {
            let entry = self.of(tool, pick.permission).iter().find(|entry| entry.id == pick.id);
            // It is there, for it is held. That its last use is taken is as it should be: for this call it was.
            let death = entry.map_or(Some(Death::Revoked), |entry| entry.death(now));
            if death.is_some_and(|death| !matches!(death, Death::UsedUp)) {
                return Err(dead(tool, pick.permission, death));
            }
        }
        Ok(())
    }

    /// Takes one use of each grant, or nothing at all.
    pub(super) fn take(&mut self, tool: &ToolId, picks: &[Pick], now: SystemTime) -> Result<Held, Blocked> {
        for pick in picks {
            let entry = self.of(tool, pick.permission).iter().find(|entry| entry.id == pick.id);
            // A grant that is not there any more was dead when it was forgotten.
            let death = entry.map_or(Some(Death::Revoked), |entry| entry.death(now));
            if death.is_some() {
                return Err(dead(tool, pick.permission, death));
            }
        }
        let mut held = Vec::with_capacity(picks.len());
        for pick in picks {
            for entry in self.of_mut(tool, pick.permission).iter_mut().filter(|entry| entry.id == pick.id) {
                entry.left = entry.left.map(|left| left.saturating_sub(1));
                held.push(Arc::clone(&entry.held));
            }
        }
        Ok(Held(held))
    }
}

/// Why a grant is worth nothing.
#[derive(Clone, Copy, Debug)]
pub(super) enum Death {
    Revoked,
    NotGiven,
    Expired,
    UsedUp,
}

impl Entry {
    fn pick(&self) -> Pick {
        let Grant { permission, pre_granted, .. } = self.grant;
        Pick { permission, id: self.id, pre_granted, counted: self.left.is_some() }
    }

    fn is_needed(&self, now: SystemTime) -> bool {
        matches!(self.death(now), None | Some(Death::NotGiven)) || Arc::strong_count(&self.held) > 1
    }

    fn death(&self, now: SystemTime) -> Option<Death> {
        if self.revoked {
            Some(Death::Revoked)
        } else if !self.given {
            Some(Death::NotGiven)
        } else if self.grant.expires.is_some_and(|expires| now >= expires) {
            Some(Death::Expired)
        } else if self.left == Some(0) {
            Some(Death::UsedUp)
        } else {
            None
        }
    }
}

/// What is to be said when a grant expires.
pub(super) fn expired(tool: &ToolId, permission: Permission) -> Blocked {
    dead(tool, permission, Some(Death::Expired))
}

pub(super) fn dead(tool: &ToolId, permission: Permission, death: Option<Death>) -> Blocked {
    let how = match death {
        Some(Death::Expired) => "has expired",
        Some(Death::UsedUp) => "is used up",
        Some(Death::NotGiven) => "is not in force yet",
        Some(Death::Revoked) | None => "was revoked",
    };
    let message = format!("the grant of `{permission}` for `{tool}` {how}");
    let help = match death {
        Some(Death::Expired) => EXPIRED,
        _ => "request a new grant",
    };
    Blocked::new(GateCode::G2, message, help)
}

const EXPIRED: &str = "request a new grant; what counts is the later of the clock and the latest time in the audit log";
