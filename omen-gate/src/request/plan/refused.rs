//! A refusal by PG-1.

use crate::base::{Blocked, GateCode};

pub(super) fn blocked(message: impl Into<String>, help: impl Into<String>) -> Blocked {
    Blocked::new(GateCode::Pg1, message, help)
}
