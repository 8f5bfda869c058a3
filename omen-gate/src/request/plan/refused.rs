//! A refusal by PG-1.

use crate::base::{Blocked, Code};

pub(super) fn blocked(message: impl Into<String>, help: impl Into<String>) -> Blocked {
    Blocked::new(Code::Pg1, message, help)
}
