//! What a directive of an episode gives a call to go by.

use std::time::{Duration, SystemTime};

use omen_fsm::episode::Authority;
use omen_types::{CorrelationId, Instant, PacketId};

use crate::clock::reached;
use crate::{Blocked, Clock, Code};

/// The directive of an episode that asks for a call.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) packet_id: PacketId,
    pub(crate) correlation_id: CorrelationId,
    /// The token that it was sent with, if it may change things.
    pub(crate) authority: Option<Authority>,
    /// From when on its result is late (D35).
    pub(crate) deadline: Instant,
}

impl Origin {
    /// Whether the directive may still be carried out.
    pub(crate) fn stands(&self, now: Instant) -> Result<(), Blocked> {
        self.authorized(now)?;
        if now > self.deadline {
            return Err(Blocked::new(Code::G2, "the directive's time is over before its tool was called", HELP));
        }
        Ok(())
    }

    /// Whether the directive's token, if it has one, is in force.
    pub(crate) fn authorized(&self, now: Instant) -> Result<(), Blocked> {
        match &self.authority {
            Some(authority) if authority.expires.is_none_or(|expires| now >= expires) => Err(expired(authority)),
            _ => Ok(()),
        }
    }

    /// Waits for the directive's token to expire, if it has one.
    pub(crate) async fn expired(&self, clock: &dyn Clock) -> Blocked {
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
    Blocked::new(Code::G2, format!("the token `{}` of the directive has expired", authority.token_id), HELP)
}

const HELP: &str = "send a new directive, under a token that is in force";
