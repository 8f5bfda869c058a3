//! Store of the grants, with their uses, expiry and revocation.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use omen_base::Mutex;
use tokio::sync::Notify;

use super::{Grant, GrantId};
use crate::base::{Blocked, GateCode, Permission, Ratchet, ToolId};
use crate::call::Call;

#[derive(Debug)]
pub(super) struct SharedStore {
    pub(super) clock: Arc<Ratchet>,
    /// Every change is a single assignment or happens after all checks, so a panic cannot leave a change half done.
    pub(super) store: Mutex<Store>,
    /// Notifier of running calls about revocations.
    pub(super) revoked: Notify,
}

/// State of the grants.
#[derive(Debug, Default)]
pub(super) struct Store {
    last: u64,
    count: usize,
    /// Grants listed in the configuration in force, including dead and forgotten ones.
    pub(super) defaults: Vec<(GrantId, Grant)>,
    entries: BTreeMap<ToolId, BTreeMap<Permission, Vec<StoredGrant>>>,
}

#[derive(Debug)]
pub(super) struct StoredGrant {
    pub(super) id: GrantId,
    pub(super) grant: Grant,
    /// Remaining uses; `None` if unlimited.
    left: Option<u32>,
    /// Whether the grant is in force, which happens only after it is recorded.
    pub(super) given: bool,
    pub(super) revoked: bool,
    /// Shared with calls that depend on this grant ([`GrantHold`]).
    held: Arc<()>,
}

/// Maximum number of grants in a store.
pub const MAX_GRANTS: usize = 4096;

/// Grant that a call uses for one permission.
#[derive(Clone, Copy, Debug)]
pub(super) struct PickedGrant {
    pub(super) permission: Permission,
    pub(super) id: GrantId,
    pub(super) pre_granted: bool,
    /// Whether the grant has a limited number of uses.
    pub(super) counted: bool,
}

/// Guard that keeps a call's grants from being forgotten.
#[derive(Debug)]
pub(super) struct GrantHold(#[expect(dead_code, reason = "only its reference count is used")] Vec<Arc<()>>);

impl Store {
    fn grants_for(&self, tool: &ToolId, permission: Permission) -> &[StoredGrant] {
        self.entries.get(tool).and_then(|permissions| permissions.get(&permission)).map_or(&[], Vec::as_slice)
    }

    pub(super) fn of_mut(&mut self, tool: &ToolId, permission: Permission) -> &mut [StoredGrant] {
        let entries = self.entries.get_mut(tool).and_then(|permissions| permissions.get_mut(&permission));
        entries.map_or(&mut [], Vec::as_mut_slice)
    }

    /// Adds a grant that is not yet in force.
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
        entries.push(StoredGrant { id, grant, left, given: false, revoked: false, held: Arc::default() });
        Ok(id)
    }

    pub(super) fn by_id(&mut self, id: GrantId) -> Option<&mut StoredGrant> {
        self.entries.values_mut().flat_map(BTreeMap::values_mut).flatten().find(|entry| entry.id == id)
    }

    /// Revokes all grants that satisfy a predicate.
    pub(super) fn revoke_where(&mut self, holds: impl Fn(&Grant) -> bool) -> Vec<(GrantId, Grant)> {
        let entries = self.entries.values_mut().flat_map(BTreeMap::values_mut).flatten();
        let revoked = entries.filter(|entry| !entry.revoked && holds(&entry.grant)).map(|entry| {
            entry.revoked = true;
            (entry.id, entry.grant.clone())
        });
        revoked.collect()
    }

    /// Re-applies uses from before a restart. Of two equal grants, the older one is used first.
    pub(super) fn spend(&mut self, mut spent: impl FnMut(&Grant, u32) -> u32) {
        for entry in self.entries.values_mut().flat_map(BTreeMap::values_mut).flatten() {
            if let Some(left) = entry.left {
                entry.left = Some(left.saturating_sub(spent(&entry.grant, left)));
            }
        }
    }

    /// Forgets dead grants when there is no more room; until then they explain refusals. Grants that a call uses or
    /// that have yet to be put into force are kept.
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

    /// Picks a live grant for each permission: one that needs no confirmation if possible, otherwise the oldest.
    pub(super) fn pick(&self, call: &Call, now: SystemTime) -> Result<Vec<PickedGrant>, Blocked> {
        let tool = call.tool();
        let pick = |permission| {
            let entries = self.grants_for(tool, permission);
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

    /// Returns the time at which the first of the grants expires, if any does.
    pub(super) fn expiry(&self, tool: &ToolId, picks: &[PickedGrant]) -> Option<(SystemTime, Permission)> {
        let of = |pick: &PickedGrant| self.grants_for(tool, pick.permission).iter().find(|entry| entry.id == pick.id);
        let expiry = |entry: &StoredGrant| Some((entry.grant.expires?, entry.grant.permission));
        picks.iter().filter_map(of).filter_map(expiry).min()
    }

    /// Checks that each grant is still valid. The last use of a grant may already be taken.
    pub(super) fn stand(&self, tool: &ToolId, picks: &[PickedGrant], now: SystemTime) -> Result<(), Blocked> {
        for pick in picks {
            let entry = self.grants_for(tool, pick.permission).iter().find(|entry| entry.id == pick.id);
            // The grant exists, because the call holds it. Its last use may have been taken by this call.
            let death = entry.map_or(Some(Death::Revoked), |entry| entry.death(now));
            if death.is_some_and(|death| !matches!(death, Death::UsedUp)) {
                return Err(dead(tool, pick.permission, death));
            }
        }
        Ok(())
    }

    /// Takes one use of each grant, or none at all.
    pub(super) fn take(&mut self, tool: &ToolId, picks: &[PickedGrant], now: SystemTime) -> Result<GrantHold, Blocked> {
        for pick in picks {
            let entry = self.grants_for(tool, pick.permission).iter().find(|entry| entry.id == pick.id);
            // A forgotten grant was already dead when it was forgotten.
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
        Ok(GrantHold(held))
    }
}

/// Reason why a grant is invalid.
#[derive(Clone, Copy, Debug)]
pub(super) enum Death {
    Revoked,
    NotGiven,
    Expired,
    UsedUp,
}

impl StoredGrant {
    fn pick(&self) -> PickedGrant {
        let Grant { permission, pre_granted, .. } = self.grant;
        PickedGrant { permission, id: self.id, pre_granted, counted: self.left.is_some() }
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

/// Builds the refusal of a call whose grant has expired.
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

const EXPIRED: &str = "request a new grant; expiry uses the later of the clock and the latest time in the audit log";
