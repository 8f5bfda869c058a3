//! What shows that an entry is recorded.

use super::Mac;

/// An entry is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "an entry counts as recorded only if there is a receipt"]
pub struct Receipt {
    /// Its number, from 1.
    pub sequence: u64,
    /// Its seal, which covers all entries before it, too.
    pub mac: Mac,
}
