//! Snapshots: the state of a validator as bytes, which can be stored while its process is not running.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `omensnap` |
//! | 1 | version of the format |
//! | 16 | fingerprint of the schema: tables, rules, and the order of enum values |
//! | 16 | fingerprint of the options |
//! | … | beginning of the stream, incomplete line, counts, episodes in order, and possible consequences of rejected packets |
//! | 16 | seal: 128 bits of SipHash-1-3 over everything before it |
//!
//! Numbers are encoded with seven bits per byte, lowest first; texts and machines are preceded by their length. A
//! machine consists of its set of nodes and its ledger, in packed form.

use std::hash::Hasher as _;

use omen_fsm::SCHEMA_FINGERPRINT;
use omen_invariants::ledger::bytes::{Reader, Writer};
use omen_types::limits::MAX_LINE_BYTES;
use siphasher::sip128::{Hasher128 as _, SipHasher13};

use super::episodes::Episodes;
use super::head::Head;
use super::options::ValidatorOptions;
use super::root_cause::RootCauses;
use super::tally::Tally;
use super::{Judge, Validator};
use crate::lines::LineSplitter;

/// Reason why bytes cannot be restored as a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadSnapshot {
    /// The bytes are not a snapshot.
    NotASnapshot,
    /// The snapshot has this format version, but this library reads [another one](BadSnapshot::VERSION).
    Version(u8),
    /// The snapshot was taken with another schema.
    Schema,
    /// The snapshot was taken with other options.
    Options,
    /// Bytes are missing or were changed.
    Damaged,
}

impl BadSnapshot {
    /// Snapshot version that this library reads and writes.
    pub const VERSION: u8 = 2;
}

impl std::fmt::Display for BadSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotASnapshot => f.write_str("not a snapshot of a validator"),
            Self::Version(found) => {
                write!(f, "a snapshot of version {found}; expected version {}", Self::VERSION)
            }
            Self::Schema => f.write_str("a snapshot of another schema: check the stream again from its beginning"),
            Self::Options => {
                f.write_str("a snapshot of a validator with other options: use the same levels, time and depth")
            }
            Self::Damaged => f.write_str("a damaged snapshot: bytes are missing or were changed"),
        }
    }
}

impl std::error::Error for BadSnapshot {}

impl Validator {
    /// Returns the state of the validator as bytes. A validator that is [restored](Self::restore) from them reports
    /// exactly the same on the following bytes as this one would.
    ///
    /// A snapshot takes about 100 bytes per episode. The same state yields the same bytes on every platform. They are
    /// sealed against damage, not against forgery: protect them like the log.
    ///
    /// ```
    /// use omen::{Finding, Validator, ValidatorOptions};
    ///
    /// let log = omen_schema::example("invalid/e1-decision-before-belief.jsonl").unwrap_or_default();
    /// let (first, rest) = log.split_at(log.len() / 2);
    /// let mut findings: Vec<Finding> = Vec::new();
    /// let mut validator = Validator::new(ValidatorOptions::default());
    /// let Ok(()) = validator.feed(first.as_bytes(), &mut findings);
    /// let bytes = validator.snapshot();
    ///
    /// // Later, in another process:
    /// let mut validator = Validator::restore(&bytes, ValidatorOptions::default())?;
    /// let Ok(()) = validator.feed(rest.as_bytes(), &mut findings);
    /// let Ok(summary) = validator.finish(&mut findings);
    /// assert_eq!((summary.bytes, findings.len()), (log.len() as u64, 1));
    /// # Ok::<(), omen::validator::BadSnapshot>(())
    /// ```
    #[must_use]
    pub fn snapshot(&mut self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.push(BadSnapshot::VERSION);
        bytes.extend(SCHEMA_FINGERPRINT);
        bytes.extend(fingerprint(&self.judge.options));
        let mut writer = Writer(&mut bytes);
        self.head.write(&mut writer);
        let (pending, skipping, taken) = self.lines.state();
        writer.bytes(pending);
        writer.byte(u8::from(skipping));
        writer.number(taken);
        let Judge { options, episodes, root_causes, tally } = &mut self.judge;
        tally.write(&mut writer);
        episodes.write(&mut writer);
        root_causes.write(options, &mut writer);
        let seal = seal(&bytes);
        bytes.extend(seal);
        bytes
    }

    /// Restores a validator from a [snapshot](Self::snapshot) that was taken with the same `options`.
    ///
    /// # Errors
    /// If the bytes are not exactly those of a snapshot, or come from a validator whose verdicts may differ.
    pub fn restore(bytes: &[u8], options: ValidatorOptions) -> Result<Self, BadSnapshot> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(BadSnapshot::NotASnapshot)?;
        let (version, rest) = rest.split_first().ok_or(BadSnapshot::Damaged)?;
        let (sealed, stated) = bytes.split_last_chunk().ok_or(BadSnapshot::Damaged)?;
        // A damaged version or fingerprint must not be mistaken for an intact snapshot of another schema. The seal of
        // another version is unknown.
        if *version != BadSnapshot::VERSION {
            return Err(BadSnapshot::Version(*version));
        }
        if seal(sealed) != *stated {
            return Err(BadSnapshot::Damaged);
        }
        let (schema, rest) = rest.split_first_chunk().ok_or(BadSnapshot::Damaged)?;
        if *schema != SCHEMA_FINGERPRINT {
            return Err(BadSnapshot::Schema);
        }
        let (of_options, rest) = rest.split_first_chunk().ok_or(BadSnapshot::Damaged)?;
        if *of_options != fingerprint(&options) {
            return Err(BadSnapshot::Options);
        }
        let mut reader = Reader(rest);
        let head = Head::read(&mut reader);
        let (pending, skipping, taken) = (reader.bytes(), reader.byte() == 1, reader.number());
        let lines = LineSplitter::resume(MAX_LINE_BYTES, (pending, skipping, taken));
        let tally = Tally::read(&mut reader);
        let episodes = Episodes::read(&mut reader);
        let root_causes = RootCauses::read(&mut reader);
        Ok(Self { head, lines, judge: Judge { options, episodes, root_causes, tally } })
    }
}

/// First bytes of every snapshot.
const MAGIC: &[u8] = b"omensnap";

/// Returns the fingerprint of everything, apart from the stream, that findings depend on.
fn fingerprint(options: &ValidatorOptions) -> [u8; 16] {
    let ValidatorOptions { now, levels, depth } = options;
    seal(format!("{now:?} {levels:?} {depth:?}").as_bytes())
}

fn seal(bytes: &[u8]) -> [u8; 16] {
    let mut hasher = SipHasher13::new();
    hasher.write(bytes);
    hasher.finish128().as_bytes()
}

#[cfg(test)]
#[expect(clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]
mod tests;
