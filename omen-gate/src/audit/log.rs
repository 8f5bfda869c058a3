//! The log, for writing.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use omen_types::limits::MAX_LINE_BYTES;
use serde_json::{Map, Value, json};

use super::entry::{Entry, Label, Own, Record};
use super::head::{Head, Point};
use super::store::{Files, Store};
use super::verdict::{LogVerdict, Verification};
use super::verify::verify;
use super::{Anchor, AuditError, Key, Mac};
use crate::base::canonical::MAX_INTEGER;
use crate::base::{GateClock, NotExact};

/// The audit log, open for writing. A clone writes to the same log, from any thread.
///
/// Appending waits for the disk, a few milliseconds with `sync`: asynchronous code that must not wait does it
/// on a thread for such work.
#[derive(Clone)]
pub struct Audit {
    inner: Arc<Inner>,
}

/// How a log is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether an entry counts as recorded only when it survives a power failure. Without, it survives the death of the
    /// process; after a power failure, entries that were acknowledged may be missing or the head record be older than
    /// the log, and the log then counts as truncated or tampered. On by default.
    pub sync: bool,
    /// Bytes of an entry's line, at most; [`MAX_LINE_BYTES`] is the limit of this limit. By default 1 MiB.
    pub max_entry_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { sync: true, max_entry_bytes: 1024 * 1024 }
    }
}

/// An entry is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "an entry counts as recorded only if there is a receipt"]
pub struct Receipt {
    /// Its number, from 1.
    pub sequence: u64,
    /// Its seal, which covers all entries before it, too.
    pub mac: Mac,
}

impl Audit {
    /// Opens a log in files, or begins one. The whole log is verified first. What a crash has left is repaired: the start
    /// of a last line is cut off, for it was never acknowledged, and kept in a file beside the log; an entry that is whole
    /// stays; and an entry of the kind `repaired` says so, with the names of the files. Without a crash, the entry says
    /// `opened`.
    ///
    /// # Errors
    /// If the log is in use, was tampered with or cut, or cannot be read or written.
    pub fn open(
        path: impl AsRef<Path>,
        key: Key,
        clock: Arc<dyn GateClock>,
        options: Options,
    ) -> Result<Self, AuditError> {
        let path = path.as_ref();
        let files = Files::open(path, options.sync)?;
        let is_missing = files.is_missing();
        Self::over(files, key, clock, options).map_err(|error| match error {
            AuditError::NotSound(LogVerdict::Truncated { .. }) if is_missing => AuditError::Gone(path.to_owned()),
            error => error,
        })
    }

    /// Opens a log in any store, or begins one. `options.sync` is the store's affair.
    ///
    /// # Errors
    /// If the log was tampered with or cut, or cannot be read or written.
    pub fn over(store: impl Store, key: Key, clock: Arc<dyn GateClock>, options: Options) -> Result<Self, AuditError> {
        let mut store = Box::new(store);
        let head = store.head()?;
        let found = match store.log()? {
            Some(log) => verify(log, head.as_deref(), &key, None)?,
            None if head.is_some() => verify(io::empty(), head.as_deref(), &key, None)?,
            None => Verification::of_nothing(&key),
        };
        let at = found.point();
        let (entries, bytes) = match found.verdict {
            LogVerdict::Sound => (0, 0),
            LogVerdict::Incomplete { entries, bytes } => (entries, bytes),
            LogVerdict::Tampered(_) | LogVerdict::Truncated { .. } => return Err(AuditError::NotSound(found.verdict)),
        };
        // The record of the repair would be lost if this process, too, died before it is written: so the head record says
        // first that it is due, and of what is cut off, the place where it is kept.
        let adopted = entries > 0;
        if adopted || head.is_none() {
            store.replace_head(&Head { at, adopted }.encode(&key)?)?;
        }
        if bytes > 0 {
            store.set_aside(found.bytes)?;
        }
        let kept = store.kept(found.bytes)?;
        let repaired = adopted || bytes > 0 || !kept.is_empty();
        let (own, data) =
            if repaired { (Own::Repaired, repair(entries, bytes, kept)) } else { (Own::Opened, Map::new()) };
        let max_entry_bytes = options.max_entry_bytes.min(MAX_LINE_BYTES);
        let state = State { store, at, end: found.bytes, broken: false };
        let audit = Self { inner: Arc::new(Inner { key, clock, max_entry_bytes, state: Mutex::new(state) }) };
        let _ = audit.write(Entry::new(Label::Own(own), data))?;
        Ok(audit)
    }

    /// Records something. With the receipt it is in the log, and the head record names it.
    ///
    /// # Errors
    /// If it is not recorded. If that is because a write failed, nothing more is recorded until the log is opened
    /// again; whether the entry is in the log is then not known.
    pub fn append(&self, record: Record<'_>) -> Result<Receipt, AuditError> {
        self.write(record.into())
    }

    /// Where the log stands, to be kept elsewhere.
    ///
    /// # Errors
    /// If a write failed, so that it is not known where the log stands.
    pub fn anchor(&self) -> Result<Anchor, AuditError> {
        let state = self.inner.state()?;
        Ok(Anchor::new(state.at, &self.inner.key)?)
    }

    /// Numbers, dates, seals and writes an entry.
    fn write(&self, mut entry: Entry) -> Result<Receipt, AuditError> {
        let Inner { key, clock, max_entry_bytes, .. } = &*self.inner;
        let mut state = self.inner.state()?;
        let State { store, at, end, broken } = &mut *state;

        entry.sequence = at.count + 1;
        if entry.sequence > MAX_INTEGER {
            return Err(NotExact::Number { at: "/sequence".to_owned(), number: entry.sequence.to_string() }.into());
        }
        entry.time = rfc3339(clock.wall())?;
        let sequence = entry.sequence;
        let (line, mac) = entry.seal(key, &at.last)?;
        if line.len() > *max_entry_bytes {
            return Err(AuditError::Long { bytes: line.len(), limit: *max_entry_bytes });
        }
        // INVARIANT: nothing gets into the log that a verifier would not let pass. An agent can choose what is recorded
        // of it, and must not be able to make the log look tampered with.
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        Entry::judge(text, key, &at.last, sequence).map_err(AuditError::NotReadBack)?;
        let next = Point { count: sequence, last: mac };
        let head = Head { at: next, adopted: false }.encode(key)?;

        // Until both are written, it is not known what is.
        *broken = true;
        store.append(*end, &line)?;
        store.set_head(&head)?;
        *broken = false;
        *at = next;
        *end += line.len() as u64;
        Ok(Receipt { sequence, mac })
    }
}

impl fmt::Debug for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Audit").finish_non_exhaustive()
    }
}

struct Inner {
    key: Key,
    clock: Arc<dyn GateClock>,
    max_entry_bytes: usize,
    state: Mutex<State>,
}

impl Inner {
    /// The state, if nothing has gone wrong with it.
    fn state(&self) -> Result<MutexGuard<'_, State>, AuditError> {
        match self.state.lock() {
            Ok(state) if !state.broken => Ok(state),
            // A store that panicked has left nothing certain, either.
            Ok(_) | Err(_) => Err(AuditError::Broken),
        }
    }
}

struct State {
    store: Box<dyn Store>,
    /// The last entry.
    at: Point,
    /// Where the next one goes, in bytes.
    end: u64,
    broken: bool,
}

fn repair(entries: u64, bytes: u64, kept: Vec<String>) -> Map<String, Value> {
    let mut data = Map::new();
    data.insert("entries".into(), json!(entries));
    data.insert("bytes".into(), json!(bytes));
    if !kept.is_empty() {
        data.insert("kept".into(), json!(kept));
    }
    data
}

fn rfc3339(time: SystemTime) -> Result<String, AuditError> {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) if since < YEAR_10000 => Ok(humantime::format_rfc3339_millis(time).to_string()),
        Ok(_) | Err(_) => Err(AuditError::Clock),
    }
}

/// Since 1970.
const YEAR_10000: Duration = Duration::from_secs(253_402_300_800);
