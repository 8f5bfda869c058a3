//! R2: limits on the calls of a turn and of a client session.

use std::num::NonZeroU32;

use crate::base::{Blocked, GateCode};

/// Call limits; `None` means unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallLimits {
    /// Maximum number of calls in a turn.
    pub turn: Option<NonZeroU32>,
    /// Maximum number of calls in a client session.
    pub session: Option<NonZeroU32>,
}

/// Checks that one more call after `made` calls stays within the limit.
pub(crate) fn room(limit: Option<NonZeroU32>, made: u32, whose: &str, key: &str) -> Result<(), Blocked> {
    match limit {
        Some(limit) if made >= limit.get() => {
            let message =
                format!("the {whose} has made {made} calls, the most that it may make (`budget.{key} = {limit}`)");
            let help = format!("report what was done, and continue in another {whose}");
            Err(Blocked::new(GateCode::R2, message, help))
        }
        _ => Ok(()),
    }
}
