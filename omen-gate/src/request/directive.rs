//! Directive of an episode as the gate sees it: token, deadline and lease.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use omen_fsm::episode::{Authority, Lapsed, Watch};
use omen_types::Instant;

use crate::base::clock::reached;
use crate::base::{Blocked, GateClock, GateCode};
use crate::config::Policy;
use crate::request::audit_queue::EpisodePacket;
use crate::request::user_inputs;

/// Directive of an episode that requests a call.
#[derive(Debug)]
pub(crate) struct Directive {
    pub(crate) packet: Arc<EpisodePacket>,
    /// Token with which the directive was sent; required for writing.
    pub(crate) authority: Option<Authority>,
    /// Time from which the result is late (D35).
    pub(crate) deadline: Instant,
    /// Watch on the episode's permission to run the task; `None` if it was never given (D52).
    pub(crate) watch: Option<Watch>,
}

/// Builds the refusal of a task whose episode forbids starting or continuing it.
pub(crate) fn lapsed(why: Lapsed) -> Blocked {
    let code = match why {
        // A permission was revoked or has expired.
        Lapsed::Revoked | Lapsed::Expired { .. } | Lapsed::Overdue { .. } | Lapsed::SafeMode => GateCode::G2,
        // A directive allows one call while it is open.
        _ => GateCode::Pg6,
    };
    Blocked::new(code, why.to_string(), why.help())
}

impl Directive {
    /// Checks that the directive may still be carried out.
    pub(crate) fn stands(&self, now: Instant) -> Result<(), Blocked> {
        self.leased()?;
        self.authorized(now)?;
        if now > self.deadline {
            return Err(Blocked::new(GateCode::G2, "the directive timed out before its tool was called", HELP));
        }
        Ok(())
    }

    /// Checks that the episode allows the task to run.
    pub(crate) fn leased(&self) -> Result<(), Blocked> {
        self.watch.as_ref().map_or(Ok(()), |watch| watch.stands().map_err(lapsed))
    }

    /// Screens everything that the user of the episode has requested so far against the policy (D68).
    pub(crate) fn screened(&self, policy: &Policy) -> Result<(), Blocked> {
        self.watch.as_ref().map_or(Ok(()), |watch| user_inputs::screen(policy, &watch.user_inputs()))
    }

    /// Waits until the episode no longer allows the task to run.
    pub(crate) async fn taken_back(&self) -> Blocked {
        match &self.watch {
            Some(watch) => lapsed(watch.lapsed().await),
            None => std::future::pending().await,
        }
    }

    /// Checks that the directive's token, if it has one, is in force.
    pub(crate) fn authorized(&self, now: Instant) -> Result<(), Blocked> {
        match &self.authority {
            Some(authority) if authority.expires.is_none_or(|expires| now >= expires) => Err(expired(authority)),
            _ => Ok(()),
        }
    }

    /// Waits until the directive's token expires; forever if it has none.
    pub(crate) async fn expired(&self, clock: &dyn GateClock) -> Blocked {
        let Some(authority) = &self.authority else { return std::future::pending().await };
        if let Some(expires) = authority.expires {
            let since = u64::try_from(expires.unix_seconds()).unwrap_or_default();
            match SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(since)) {
                Some(time) => reached(clock, time).await,
                None => std::future::pending().await,
            }
        }
        expired(authority)
    }
}

fn expired(authority: &Authority) -> Blocked {
    Blocked::new(GateCode::G2, format!("the token `{}` of the directive has expired", authority.token_id), HELP)
}

const HELP: &str = "send a new directive with a valid token";
