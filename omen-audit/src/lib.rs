//! A1, A3, A4: the tamper-evident audit log.
//!
//! Every refusal, every decision about grants and confirmations, every intent to run a tool and every outcome is an entry: one
//! line of JSON in canonical form (RFC 8785), with `mac`, the HMAC-SHA-256 over the `mac` of the previous entry (32 bytes) and
//! the entry's own bytes without its `mac`. Each entry therefore seals all previous ones. Next to the log is a head record with
//! the count and the last `mac` under its own seal, so that the removal of entries from the end is detected (D49).
//!
//! ```
//! use std::sync::Arc;
//! use omen_audit::{Audit, Key, Kind, Options, Record, LogVerdict, verify_file};
//! use omen_base::{SystemClock, TurnId};
//!
//! # let folder = tempfile::tempdir()?;
//! # let (key_file, log) = (folder.path().join("audit.key"), folder.path().join("audit.jsonl"));
//! let key = Key::create(&key_file)?;
//! let audit = Audit::open(&log, key, Arc::new(SystemClock::default()), Options::default())?;
//! let turn = TurnId::new("turn_1")?;
//! let receipt = audit.append(Record::new(Kind::Intent, &turn, serde_json::Map::new()))?;
//! assert_eq!(receipt.sequence, 2, "the first entry says that the log was opened");
//! drop(audit);
//!
//! let found = verify_file(&log, &Key::from_file(&key_file)?, None)?;
//! assert_eq!((found.verdict, found.entries), (LogVerdict::Sound, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Guarantees and limits (A3)
//!
//! The log is tamper-evident, not tamper-proof: it does not prevent changes to the files but reveals them.
//!
//! Without the key, entries cannot be changed, added, removed, repeated or reordered unnoticed, even with write access
//! to the files, because the seals would no longer match. If entries are removed from the end, the head record is ahead
//! of the log. A changed or removed head record is also detected.
//!
//! The log does not reveal:
//!
//! - **Changes made with the key.** With read access to the key, or to the memory of this process, the whole log can be rewritten
//!   with valid seals. Keep the key where the agent and its tools cannot read it: in a file owned by another user, or on another
//!   machine. An [`Anchor`] kept elsewhere reveals even such changes, up to the point where it was taken.
//! - **That the log and head record were both set back** to an earlier state, e.g. from a backup. They match each
//!   other. An [`Anchor`] kept elsewhere reveals this, but entries after the last anchor can be lost unnoticed.
//! - **That the log was replaced by another one** with its head record, if both have the same key. Give each log its
//!   own key, or keep anchors.
//! - **That both files were removed** and a new log was begun. An anchor reveals this too.
//! - **The loss of entries that were never acknowledged.** A crash may lose the last entry. The action that required it
//!   has not happened, because a tool runs only after its intent was acknowledged.
//! - **Whether the recorded content is true.** The content is what the gate reported, at the time shown by its clock.
//!
//! # After a crash
//!
//! An entry is written to the log, then the head record is updated to include it, and then it is acknowledged;
//! simultaneous entries take these steps together, as a group. Whenever the process dies, every acknowledged entry is
//! in the log. Some entries of one group, and the start of a further line, may be present without having been
//! acknowledged. Both count as [`LogVerdict::Incomplete`] and are repaired when the log is opened: whole entries stay,
//! and the start of a line is cut off and kept next to the log. A crash does not leave any other bytes at the end
//! (D57), so these count as [`LogVerdict::Tampered`]. The start of a line can be forged without the key, as long as it
//! ends before the seal can be checked; it adds nothing, and it is kept. A log that is [`LogVerdict::Tampered`] or
//! [`LogVerdict::Truncated`] is not opened, so nothing is added to it.
//!
//! A head record that names no entry is created before the log. An empty log without a head record is therefore not the
//! result of a crash either.

mod anchor;
mod chain;
mod error;
mod key;
mod log;
mod read;
mod replayed_state;
#[cfg(feature = "ed25519")]
mod signed;
pub mod store;
mod verify;
mod verify_files;

use std::io;
use std::path::Path;

pub use anchor::{Anchor, BadAnchor};
pub use chain::Flaw;
pub use chain::entry::{Kind, Record};
pub use error::AuditError;
pub use key::{Key, KeyError, Mac};
pub use log::{Audit, Checkpoint, DeferredEntry, Options, Receipt};
#[doc(no_inline)]
pub use omen_types::limits::MAX_LINE_BYTES;
pub use read::{Follow, Logged, read_log};
pub use replayed_state::{Failures, InDoubt, OrderRecord, RecentCalls, ReplayedState, SESSION, TURN_CALLS, USER_TURN};
#[cfg(feature = "ed25519")]
pub use signed::{PublicKey, SignedAnchor, SignedVerdict, SigningKey};
pub use verify::{LogVerdict, Tampering, Verification, Verifier, verify};
pub use verify_files::{FileVerification, LogVerification, Misfit, verify_files, verify_folder, verify_log};

/// Verifies one file of a log, with the head record next to it. A missing log whose head record exists counts as
/// truncated to nothing. [`verify_log`] verifies a log with all its files.
///
/// # Errors
/// If the log is open for writing, or the files cannot be read.
pub fn verify_file(log: impl AsRef<Path>, key: &Key, anchor: Option<&Anchor>) -> Result<Verification, AuditError> {
    let path = log.as_ref();
    let files = store::ReadOnly::open(path)?;
    let found = match files.log {
        Some(store::LogFile::InUse(_)) => return Err(AuditError::InUse(path.to_owned())),
        Some(log) => verify(log, files.head.as_deref(), key, anchor),
        None => verify(io::empty(), files.head.as_deref(), key, anchor),
    };
    found.map_err(|source| AuditError::Io { path: path.to_owned(), source })
}
