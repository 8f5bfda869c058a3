//! Reading entries during verification, and following a log as it grows.

use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::anchor::Anchor;
use crate::chain::ChainPosition;
use crate::chain::entry::Entry;
use crate::chain::head::Head;
use crate::error::AuditError;
use crate::key::Key;
use crate::store::{ReadOnly, numbered, parse_name};
use crate::verify::{LogVerdict, Tampering};
use crate::verify_files::{LogVerification, verify_log_to};
use omen_base::canonical;

/// Entry with a valid seal.
#[derive(Clone, Copy, Debug)]
pub struct Logged<'e>(&'e Entry);

impl<'e> Logged<'e> {
    /// Returns the entry number.
    #[must_use]
    pub fn sequence(self) -> u64 {
        self.0.sequence
    }

    /// Returns the time of writing by the gate's clock (RFC 3339).
    #[must_use]
    pub fn time(self) -> &'e str {
        &self.0.time
    }

    /// Returns the kind, such as `intent`.
    #[must_use]
    pub fn kind(self) -> String {
        self.0.kind.text().unwrap_or_default().trim_matches('"').to_owned()
    }

    /// Returns the turn of the entry; `None` for entries of the log itself.
    #[must_use]
    pub fn turn(self) -> Option<&'e str> {
        self.0.turn.as_deref()
    }

    /// Returns the packet that caused the entry, if an episode did.
    #[must_use]
    pub fn packet_id(self) -> Option<&'e str> {
        self.0.packet_id.as_deref()
    }

    /// Returns the episode of the packet.
    #[must_use]
    pub fn correlation_id(self) -> Option<&'e str> {
        self.0.correlation_id.as_deref()
    }

    /// Returns the content of the entry.
    #[must_use]
    pub fn data(self) -> &'e Map<String, Value> {
        &self.0.data
    }

    /// Returns the line of the entry, without the line break.
    #[must_use]
    pub fn line(self) -> String {
        canonical::write(self.0).ok().and_then(|line| String::from_utf8(line).ok()).unwrap_or_default()
    }
}

/// Verifies a log with all its files, and passes each sound entry to a callback, in order, before the following entries
/// are verified.
///
/// # Errors
/// If the files cannot be read.
pub fn read_log(
    log: impl AsRef<Path>,
    key: &Key,
    anchor: Option<&Anchor>,
    seen: &mut dyn FnMut(Logged<'_>),
) -> Result<LogVerification, AuditError> {
    verify_log_to(log.as_ref(), key, anchor, &mut |entry| seen(Logged(entry)))
}

/// Reader that follows a log as it grows, across its files.
#[derive(Debug)]
pub struct Follow {
    log: PathBuf,
    number: u32,
    at: ChainPosition,
    offset: u64,
}

impl Follow {
    /// Creates a reader that continues after a verified log, if the log was sound.
    #[must_use]
    pub fn after(log: impl AsRef<Path>, found: &LogVerification) -> Option<Self> {
        let last = found.files.last()?;
        let (log, number) = (log.as_ref().to_owned(), parse_name(&last.path).1);
        found.is_sound().then(|| Self { log, number, at: last.found.point(), offset: last.found.bytes })
    }

    /// Reads the entries acknowledged since the last call.
    ///
    /// # Errors
    /// If a file cannot be read, or an entry is not the expected one.
    pub fn more(&mut self, key: &Key, seen: &mut dyn FnMut(Logged<'_>)) -> Result<(), AuditError> {
        loop {
            let path = numbered(&self.log, self.number);
            let ReadOnly { log, head } = ReadOnly::open(&path)?;
            // A head record that is being written is read the next time.
            let (Some(mut log), Some(head)) = (log, head.and_then(|head| Head::decode(&head, key))) else {
                return Ok(());
            };
            let unusable = |source| AuditError::Io { path: path.clone(), source };
            log.skip_to(self.offset).map_err(unusable)?;
            let mut log = BufReader::new(log);
            let mut line = Vec::new();
            while self.at.count < head.at.count {
                line.clear();
                log.read_until(b'\n', &mut line).map_err(unusable)?;
                let text = line.strip_suffix(b"\n").ok_or_else(|| unusable(io::ErrorKind::UnexpectedEof.into()))?;
                let sequence = self.at.count + 1;
                let (entry, last) = Entry::judge(text, key, &self.at.last, sequence).map_err(|flaw| {
                    let tampering = Tampering::Line { line: sequence, offset: self.offset, flaw };
                    AuditError::NotSound(LogVerdict::Tampered(tampering))
                })?;
                self.at = ChainPosition { count: sequence, last };
                self.offset += line.len() as u64;
                seen(Logged(&entry));
            }
            if !head.continued {
                return Ok(());
            }
            (self.number, self.offset) = (self.number + 1, 0);
        }
    }
}
