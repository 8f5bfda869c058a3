//! R2: how many calls a turn and a client session may make.

use std::num::NonZeroU32;

use crate::base::{Blocked, GateCode};

/// How many calls may be made; without a number, any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallLimits {
    /// In a turn.
    pub turn: Option<NonZeroU32>,
    /// In a session of a client.
    pub session: Option<NonZeroU32>,
}

/// Whether there is room for one more call, after so many.
pub(crate) fn room(limit: Option<NonZeroU32>, made: u32, whose: &str, key: &str) -> Result<(), Blocked> {
    match limit {
        Some(limit) if made >= limit.get() => {
            let message =
                format!("the {whose} has made {made} calls, which is all that it may make (`budget.{key} = {limit}`)");
            let help = format!("report what was done, and go on in another {whose}");
            Err(Blocked::new(GateCode::R2, message, help))
        }
        _ => Ok(()),
    }
}
