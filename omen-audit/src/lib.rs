//! A1, A3, A4: the audit log, which shows whether somebody has changed it.
//!
//! Every refusal, every decision about grants and confirmations, every intent to run a tool and every outcome is an entry: one line of JSON in the spelling of
//! RFC 8785, with `mac`, the HMAC-SHA-256 over the `mac` of the entry before (32 bytes) and the entry's own bytes
//! without its `mac`. So each entry seals all before it. Next to the log is a head record that names the count and the
//! last `mac` under a seal of its own, so that entries taken off the end are missed (D49).
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
//! # What it shows, and what not (A3)
//!
//! The log is tamper-evident, not tamper-proof: it keeps nobody from changing the files, it shows that they were changed.
//!
//! Somebody who can write to the files but has no key cannot change, add, remove, repeat or reorder entries
//! without being found out: the seals do not fit any more. If entries are taken off the end, the head record is ahead
//! of the log. If the head record is changed or removed, that is found out, too.
//!
//! It does not show:
//!
//! - **Anything done with the key.** Somebody who can read the key, or the memory of this process, can write the whole log
//!   anew so that all seals fit. The key belongs where the agent and its tools cannot read it: in a file of another
//!   user, or on another machine. An [`Anchor`] that was kept elsewhere shows even this, up to where it was taken.
//! - **That log and head record were both set back** to an earlier state of both, from a backup, say. They fit each
//!   other. An [`Anchor`] that was kept elsewhere shows it. How often anchors are taken is how much can be lost unseen.
//! - **That one log stands in the place of another** with its head record, if both have the same key. Give each log a
//!   key of its own, or keep anchors.
//! - **That both files were removed** and a new log was begun. An anchor shows this, too.
//! - **Entries that were never acknowledged.** A crash may take the last one with it. What needed it has not happened,
//!   for a tool runs only after its intent was acknowledged.
//! - **That what was recorded is true.** It is what the gate said, at the time that its clock said.
//!
//! # After a crash
//!
//! An entry is written to the log, then the head record is set to it, then it is acknowledged; entries that come at once
//! take these steps together, as a group. Whenever the process dies, every acknowledged entry is there, and of one group
//! perhaps some that are not: whole, and the start of a line. Both count as
//! [`LogVerdict::Incomplete`], and opening the log repairs it: a whole entry stays, and the start of a line is cut off and
//! kept beside the log. Other bytes at the end are not what a crash leaves (D57): they count as [`LogVerdict::Tampered`]. A
//! start can be made up without the key, as long as it ends before the seal can be checked; it adds nothing, and it is
//! kept. A log that is [`LogVerdict::Tampered`] or [`LogVerdict::Truncated`] is not opened, so nothing is added to it.
//!
//! A head record that names no entry is made first, then the log. So an empty log without a head record is not what a
//! crash leaves, either.

mod anchor;
mod chain;
mod entry;
mod error;
mod flaw;
mod head;
mod key;
mod key_error;
mod line;
mod log;
mod mac;
mod open;
mod queue;
mod read;
mod receipt;
mod recent_calls;
mod replayed_state;
mod rotation_link;
mod secret;
mod series;
#[cfg(feature = "ed25519")]
mod signed;
pub mod store;
mod torn;
mod verdict;
mod verify;
mod waiting;

use std::io;
use std::path::Path;

pub use anchor::{Anchor, BadAnchor};
pub use entry::{Kind, Record};
pub use error::AuditError;
pub use flaw::Flaw;
pub use key::Key;
pub use key_error::KeyError;
pub use log::{Audit, Options};
pub use mac::Mac;
#[doc(no_inline)]
pub use omen_types::limits::MAX_LINE_BYTES;
pub use read::{Follow, Logged, read_log};
pub use receipt::Receipt;
pub use recent_calls::{RecentCalls, SESSION, TURN_CALLS, USER_TURN};
pub use replayed_state::{Failures, InDoubt, ReplayedState};
pub use series::{FileVerification, LogVerification, Misfit, verify_files, verify_folder, verify_log};
#[cfg(feature = "ed25519")]
pub use signed::{PublicKey, SignedAnchor, SignedVerdict, SigningKey};
pub use verdict::{LogVerdict, Tampering, Verification};
pub use verify::{Verifier, verify};

/// Verifies one file of a log, with the head record that is next to it. A log that is gone while its head record is there
/// counts as cut to nothing. [`verify_log`] verifies a log in all its files.
///
/// # Errors
/// If the log is open for writing, or the files cannot be read.
pub fn verify_file(log: impl AsRef<Path>, key: &Key, anchor: Option<&Anchor>) -> Result<Verification, AuditError> {
    let path = log.as_ref();
    let files = store::ReadOnly::open(path)?;
    let found = match files.log {
        Some(store::Reading::InUse(_)) => return Err(AuditError::InUse(path.to_owned())),
        Some(log) => verify(log, files.head.as_deref(), key, anchor),
        None => verify(io::empty(), files.head.as_deref(), key, anchor),
    };
    found.map_err(|source| AuditError::Io { path: path.to_owned(), source })
}
