//! Leases: authorizations between the decision and dispatch.

use std::pin::pin;
use std::sync::Arc;

use super::GrantId;
use super::store::{self, GrantHold, PickedGrant, SharedStore};
use crate::base::{Blocked, GateClock as _, GateCode, clock};
use crate::call::Call;
use crate::grant::confirm::Confirmed;
use crate::grant::decision::{DecisionStage, Ruling};

/// Authorization of a call. It does not permit the call to run: its grants may be revoked, used up or expired by then,
/// so the lease must be redeemed at dispatch, once.
///
/// ```compile_fail,E0382
/// # fn f(lease: omen_gate::Lease) {
/// let first = lease.redeem(None);
/// let second = lease.redeem(None); // One authorization, one call.
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a lease permits nothing until it is redeemed"]
pub struct Lease {
    shared: Arc<SharedStore>,
    call: Call,
    picks: Vec<PickedGrant>,
}

/// Redeemed lease: the grants are valid now, one use of each has been taken, and the call was confirmed if required.
/// Dispatch follows immediately.
#[derive(Debug)]
#[must_use = "its uses are taken: dispatch the call"]
pub struct Redeemed {
    shared: Arc<SharedStore>,
    call: Call,
    picks: Vec<PickedGrant>,
    _held: GrantHold,
}

impl Ruling<Lease> {
    /// Returns whether the call is allowed, needs no confirmation, and uses up no grant: its intent is the next entry.
    pub(crate) fn goes_on_at_once(&self) -> bool {
        self.outcome.as_ref().is_ok_and(|lease| !lease.is_used_up())
    }
}

impl Lease {
    pub(super) fn new(shared: Arc<SharedStore>, call: Call, picks: Vec<PickedGrant>) -> Self {
        Self { shared, call, picks }
    }

    /// Returns the authorized call.
    #[must_use]
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// Returns whether the call must be confirmed (G3): a permission other than `READ` comes from a grant that is not
    /// pre-granted, or the operator requires confirmation for every call of the tool.
    #[must_use]
    pub fn needs_confirmation(&self) -> bool {
        let unsafe_picks = self.picks.iter().any(|pick| pick.permission.needs_confirmation() && !pick.pre_granted);
        unsafe_picks || self.call.demand().always_confirm
    }

    /// Returns whether redeeming the lease consumes something that the user would have to give again: a confirmation,
    /// or a use of a grant.
    pub(crate) fn is_used_up(&self) -> bool {
        self.needs_confirmation() || self.picks.iter().any(|pick| pick.counted)
    }

    /// Checks the lease again, atomically: the confirmation must be for this call and in time, and each grant must still be
    /// valid. Then takes one use of each grant. Only the grants of the authorization count; other grants are no substitute.
    pub fn redeem(self, confirmed: Option<Confirmed>) -> Ruling<Redeemed> {
        let ids = self.grants();
        let outcome = self.take(confirmed);
        Ruling::new(
            &self.call,
            DecisionStage::Dispatch,
            ids,
            outcome.map(|held| {
                let Self { shared, call, picks } = &self;
                Redeemed { shared: Arc::clone(shared), call: call.clone(), picks: picks.clone(), _held: held }
            }),
        )
    }

    fn grants(&self) -> Vec<GrantId> {
        self.picks.iter().map(|pick| pick.id).collect()
    }

    fn take(&self, confirmed: Option<Confirmed>) -> Result<GrantHold, Blocked> {
        // The clock is read with the lock held, so a call that waited for the lock is checked at the later time.
        let mut store = self.shared.store.lock();
        match confirmed {
            Some(confirmed) => confirmed.spend(&self.call)?,
            None if self.needs_confirmation() => {
                let message = format!("the call of `{}` was not confirmed", self.call.tool());
                return Err(Blocked::new(GateCode::G3, message, "ask for a confirmation first, or pre-grant it"));
            }
            None => {}
        }
        store.take(self.call.tool(), &self.picks, self.shared.clock.wall())
    }
}

impl Redeemed {
    /// Checks that the grants are still valid: recording the intent takes time between redeeming the lease and running
    /// the tool.
    ///
    /// # Errors
    /// G2 if a grant was revoked or has expired.
    pub fn stands(&self) -> Result<(), Blocked> {
        let store = self.shared.store.lock();
        store.stand(self.call.tool(), &self.picks, self.shared.clock.wall())
    }

    /// Waits until the first grant expires, and returns the refusal.
    pub(crate) async fn expired(&self) -> Blocked {
        let first = self.shared.store.lock().expiry(self.call.tool(), &self.picks);
        match first {
            Some((time, permission)) => {
                clock::reached(self.shared.clock.as_ref(), time).await;
                store::expired(self.call.tool(), permission)
            }
            None => std::future::pending().await,
        }
    }

    /// Waits until a grant is revoked, and returns the refusal.
    pub(crate) async fn revoked(&self) -> Blocked {
        loop {
            let mut notified = pin!(self.shared.revoked.notified());
            // From here on no notification is missed; earlier revocations are checked now.
            notified.as_mut().enable();
            if let Err(why) = self.stands() {
                return why;
            }
            notified.await;
        }
    }

    /// Returns the call to dispatch, as authorized and confirmed.
    #[must_use]
    pub fn call(&self) -> &Call {
        &self.call
    }
}
