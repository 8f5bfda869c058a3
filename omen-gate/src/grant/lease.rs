//! What lies between authorization and dispatch.

use std::pin::pin;
use std::sync::Arc;

use super::GrantId;
use super::store::{self, Held, Pick, Shared};
use crate::base::{Blocked, GateClock as _, GateCode, clock};
use crate::call::Call;
use crate::grant::confirm::Confirmed;
use crate::grant::decision::{DecisionStage, Ruling};

/// A call is authorized. That is not a permission to run it: what was granted may be revoked, used up or expired
/// by the time that it runs, so the lease must be redeemed at the moment of dispatch, and that once.
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
    shared: Arc<Shared>,
    call: Call,
    picks: Vec<Pick>,
}

/// The grants stand at this moment, each with one use taken, and the call was confirmed if it had to be.
/// Dispatch follows at once.
#[derive(Debug)]
#[must_use = "its uses are taken: dispatch the call"]
pub struct Redeemed {
    shared: Arc<Shared>,
    call: Call,
    picks: Vec<Pick>,
    _held: Held,
}

impl Lease {
    pub(super) fn new(shared: Arc<Shared>, call: Call, picks: Vec<Pick>) -> Self {
        Self { shared, call, picks }
    }

    /// The call that it is for.
    #[must_use]
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// Whether the call must be confirmed (G3): if a permission other than `READ` rests on a grant that is not
    /// pre-granted, or the operator wants every call of the tool confirmed.
    #[must_use]
    pub fn needs_confirmation(&self) -> bool {
        let unsafe_picks = self.picks.iter().any(|pick| pick.permission.needs_confirmation() && !pick.pre_granted);
        unsafe_picks || self.call.demand().always_confirm
    }

    /// Whether redeeming it uses something up that the user would have to give again: a confirmation, or one of the uses of a
    /// grant.
    pub(crate) fn is_used_up(&self) -> bool {
        self.needs_confirmation() || self.picks.iter().any(|pick| pick.counted)
    }

    /// Checks again, now, in one step that nothing can come between: the confirmation is this call's and in
    /// time, and each grant still stands; then one use of each is taken. The decision rests on the same grants
    /// as the authorization did; another one that happens to be there does not stand in for them.
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

    fn take(&self, confirmed: Option<Confirmed>) -> Result<Held, Blocked> {
        // The clock is read with the lock held: a call that waited for it is judged by the time that it is then.
        let mut store = self.shared.lock();
        match confirmed {
            Some(confirmed) => confirmed.spend(&self.call)?,
            None if self.needs_confirmation() => {
                let message = format!("the call of `{}` is not confirmed", self.call.tool());
                return Err(Blocked::new(GateCode::G3, message, "ask for a confirmation first, or pre-grant it"));
            }
            None => {}
        }
        store.take(self.call.tool(), &self.picks, self.shared.clock.wall())
    }
}

impl Redeemed {
    /// Whether the grants still stand. Between the moment that they were redeemed and the moment that the tool
    /// runs lies the time that it takes to write that down.
    ///
    /// # Errors
    /// G2 if one of them was revoked or has expired.
    pub fn stands(&self) -> Result<(), Blocked> {
        let store = self.shared.lock();
        store.stand(self.call.tool(), &self.picks, self.shared.clock.wall())
    }

    /// Waits for the first of the grants to expire, and says which.
    pub(crate) async fn expired(&self) -> Blocked {
        let first = self.shared.lock().expiry(self.call.tool(), &self.picks);
        match first {
            Some((time, permission)) => {
                clock::reached(self.shared.clock.as_ref(), time).await;
                store::expired(self.call.tool(), permission)
            }
            None => std::future::pending().await,
        }
    }

    /// Waits for one of the grants to be revoked, and says which.
    pub(crate) async fn revoked(&self) -> Blocked {
        loop {
            let mut notified = pin!(self.shared.revoked.notified());
            // From here on nothing is missed; what came before is seen now.
            notified.as_mut().enable();
            if let Err(why) = self.stands() {
                return why;
            }
            notified.await;
        }
    }

    /// The call to dispatch, as it was authorized and confirmed.
    #[must_use]
    pub fn call(&self) -> &Call {
        &self.call
    }
}
