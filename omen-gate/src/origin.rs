//! What a directive of an episode gives a call to go by.

use omen_fsm::episode::Authority;
use omen_types::{CorrelationId, Instant, PacketId};

use crate::{Blocked, Code};

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
        let help = "send a new directive, under a token that is in force";
        if let Some(Authority { token_id, expires }) = &self.authority
            && expires.is_none_or(|expires| now >= expires)
        {
            return Err(Blocked::new(Code::G2, format!("the token `{token_id}` of the directive has expired"), help));
        }
        if now > self.deadline {
            return Err(Blocked::new(Code::G2, "the directive's time is over before its tool was called", help));
        }
        Ok(())
    }
}
