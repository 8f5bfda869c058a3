//! Receipts for recorded entries.

use super::Mac;

/// Receipt for a recorded entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "an entry counts as recorded only if there is a receipt"]
pub struct Receipt {
    /// Number of the entry, starting from 1.
    pub sequence: u64,
    /// Seal of the entry and all entries before it.
    pub mac: Mac,
}
