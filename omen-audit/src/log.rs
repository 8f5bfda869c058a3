//! The log, for writing.

use std::fmt;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use omen_types::limits::MAX_LINE_BYTES;
use serde_json::{Map, json};

use super::entry::{Entry, Kind, Label, Own, Record};
use super::head::{Head, Point};
use super::line::{Draft, Place};
use super::open::{self, Before, Opened};
use super::receipt::Receipt;
use super::replayed_state::{InDoubt, ReplayedState};
use super::rotation_link::RotationLink;
use super::store::{Files, Store};
use super::verdict::{LogVerdict, Tampering};
use super::waiting::{Due, Lead, Signal, Waiter, Waiting};
use super::{Anchor, AuditError, Key};
use omen_base::canonical::MAX_INTEGER;
use omen_base::{GateClock, NotExact};

/// The audit log, open for writing. A clone writes to the same log, from any thread.
///
/// Appending waits for the disk, a few milliseconds with `sync`: asynchronous code that must not wait does it
/// on a thread for such work.
#[derive(Clone)]
pub struct Audit {
    inner: Arc<Inner>,
}

/// How a log is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether an entry counts as recorded only when it survives a power failure. Without, it survives the death of the
    /// process; after a power failure, entries that were acknowledged may be missing or the head record be older than
    /// the log, and the log then counts as truncated or tampered. On by default.
    pub sync: bool,
    /// Bytes of an entry's line, at most; [`MAX_LINE_BYTES`] is the limit of this limit. By default 1 MiB.
    pub max_entry_bytes: usize,
    /// A file of the log that has so many bytes is continued in another one, `audit.000002.jsonl` behind `audit.jsonl`.
    /// By default, a file has no end.
    pub rotate_bytes: Option<NonZeroU64>,
    /// A file whose first entry is so old is continued in another one, when the next entry is written.
    pub rotate_after: Option<Duration>,
    /// What the log must hold, or it is not opened: so a log that was set back, cut or written anew is not continued. By
    /// default nothing.
    pub require: Option<Anchor>,
}

impl Default for Options {
    fn default() -> Self {
        Self { sync: true, max_entry_bytes: 1024 * 1024, rotate_bytes: None, rotate_after: None, require: None }
    }
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
        let is_missing = files.is_missing() && files.has_head();
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
        let Opened { store, number, start, at, end, begun, own, data, before, past } =
            open::open(Box::new(store), &key, options.require.as_ref())?;
        let waits = store.waits();
        let state = State { store, number, start, at, end, begun, latest: past.latest(), broken: false };
        let is_new = number > 1 && end == 0;
        let max_entry_bytes = options.max_entry_bytes.min(MAX_LINE_BYTES);
        let inner = Inner {
            key,
            clock,
            max_entry_bytes,
            rotation: Rotation { bytes: options.rotate_bytes, age: options.rotate_after },
            past,
            waits,
            waiting: Waiting::default(),
            state: Mutex::new(state),
        };
        let mut state = inner.state()?;
        if is_new {
            inner.begin_file(&mut state)?;
        }
        state.begun = state.begun.or_else(|| Some(inner.clock.wall()));
        inner.write_own(&mut state, &Entry::new(Label::Own(own), data))?;
        if let Some(before) = before {
            before.name_continued(&inner.key)?;
        }
        drop(state);
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Records something. With the receipt it is in the log, and the head record names it.
    ///
    /// Entries that come from several threads at once are written together, and wait for the disk together.
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

    /// The calls that may have run and whose outcome is not known, when the log was opened: the gate died in between
    /// (PG-6). In the order of the log.
    #[must_use]
    pub fn in_doubt(&self) -> Vec<InDoubt> {
        self.inner.past.in_doubt().into_iter().cloned().collect()
    }

    /// Records what somebody has found out about a call in doubt, by the number of its intent: whether its tool ran. From
    /// the next opening on, the call is not in doubt.
    ///
    /// # Errors
    /// [`AuditError::NotInDoubt`] if there is no such call, or if it is not recorded.
    pub fn settle(&self, intent: u64, ran: bool) -> Result<Receipt, AuditError> {
        let doubt = self.in_doubt().into_iter().find(|doubt| doubt.sequence == intent);
        let doubt = doubt.ok_or(AuditError::NotInDoubt(intent))?;
        let mut data = Map::new();
        data.insert("call".into(), json!(doubt.call));
        data.insert("ran".into(), json!(if ran { "yes" } else { "no" }));
        data.insert("settles".into(), json!(intent));
        data.insert("why".into(), json!("settled by the operator after a restart"));
        let mut entry = Entry::new(Label::Record(Kind::Outcome), data);
        (entry.turn, entry.packet_id, entry.correlation_id) = (Some(doubt.turn), doubt.packet_id, doubt.correlation_id);
        self.write(entry)
    }

    /// The latest time that an entry of the log has, whatever the clock shows now (D56).
    ///
    /// # Errors
    /// If a write failed, so that it is not known what the log has.
    pub fn latest(&self) -> Result<Option<SystemTime>, AuditError> {
        Ok(self.inner.state()?.latest)
    }

    /// What the log said when it was opened.
    pub fn past(&self) -> &ReplayedState {
        &self.inner.past
    }

    /// Records an entry, and waits until it is.
    fn write(&self, entry: Entry) -> Result<Receipt, AuditError> {
        let (waiter, signals) = Waiter::thread();
        if self.inner.waiting.push(Due { draft: Draft::new(&entry)?, waiter }) {
            self.inner.lead();
        }
        loop {
            match signals.recv() {
                Ok(Signal::Lead) => self.inner.lead(),
                Ok(Signal::Done(recorded)) => return recorded,
                // Who was to write it has panicked.
                Err(_) => return Err(AuditError::Broken),
            }
        }
    }

    /// Who waits to be recorded.
    pub(super) fn waiting(&self) -> &Waiting {
        &self.inner.waiting
    }

    /// Whether writing waits for a device.
    pub(super) fn waits(&self) -> bool {
        self.inner.waits
    }

    /// Writes what is due. This may wait for a device.
    pub(super) fn lead(&self) {
        self.inner.lead();
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
    rotation: Rotation,
    /// What the log says of what was done before it was opened.
    past: ReplayedState,
    /// Whether writing waits for a device.
    waits: bool,
    waiting: Waiting,
    state: Mutex<State>,
}

/// When a log goes on in another file.
struct Rotation {
    bytes: Option<NonZeroU64>,
    age: Option<Duration>,
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

    /// Writes group after group, for as long as it has to.
    fn lead(&self) {
        let lead = Lead(&self.waiting);
        loop {
            self.write_group();
            if !self.waiting.goes_on() {
                break;
            }
        }
        drop(lead);
    }

    /// Writes what is due, up to the size of a group, and notifies those that wait for it.
    fn write_group(&self) {
        let mut state = match self.state() {
            Ok(state) => state,
            Err(_) => {
                std::iter::from_fn(|| self.waiting.pop()).for_each(|due| due.waiter.notify(Err(AuditError::Broken)));
                return;
            }
        };
        if let Err(error) = self.rotate_if_due(&mut state) {
            std::iter::from_fn(|| self.waiting.pop()).for_each(|due| due.waiter.notify(Err(error.again())));
            return;
        }
        let mut group = Group::after(state.at);
        let mut waiters = Vec::new();
        while group.has_room()
            && let Some(Due { draft, waiter }) = self.waiting.pop()
        {
            match group.add(&draft, self) {
                Ok(receipt) => waiters.push((waiter, receipt)),
                // It alone is not recorded.
                Err(error) => waiter.notify(Err(error)),
            }
        }
        let written = if group.is_empty() { Ok(()) } else { state.write(&group, &self.key) };
        // What comes next need not wait until all are notified.
        drop(state);
        for (waiter, receipt) in waiters {
            waiter.notify(match &written {
                Ok(()) => Ok(receipt),
                Err(error) => Err(error.again()),
            });
        }
    }
}

impl Inner {
    /// Writes an entry of the log itself.
    fn write_own(&self, state: &mut State, entry: &Entry) -> Result<(), AuditError> {
        let mut group = Group::after(state.at);
        let _ = group.add(&Draft::new(entry)?, self)?;
        state.write(&group, &self.key)
    }

    /// Goes on in another file if this one is as long, or as old, as it may be. A file has an entry beside its first one.
    fn rotate_if_due(&self, state: &mut State) -> Result<(), AuditError> {
        let is_long = self.rotation.bytes.is_some_and(|bytes| state.end >= bytes.get());
        let is_old = self.rotation.age.is_some_and(|age| {
            state.begun.is_some_and(|begun| self.clock.wall().duration_since(begun).is_ok_and(|since| since >= age))
        });
        if state.at.count <= state.start.count + 1 || !(is_long || is_old) {
            return Ok(());
        }
        let result = self.rotate(state);
        // Where it stopped, it is not known which file is the last.
        state.broken |= result.is_err();
        result
    }

    /// The seam: the last entry of this file; the next file with its first entry, which names the last one of this file;
    /// and in the head record of this file, that the next one is there. So a file that is missing is missed, and nothing
    /// is acknowledged in a file that could be taken for the remains of a crash.
    fn rotate(&self, state: &mut State) -> Result<(), AuditError> {
        let number = state.number.checked_add(1).ok_or(AuditError::Broken)?;
        if state.store.has_next()? {
            return Err(AuditError::NotSound(LogVerdict::Tampered(Tampering::NotClosed(number))));
        }
        let mut data = Map::new();
        data.insert("file".into(), json!(number));
        self.write_own(state, &Entry::new(Label::Own(Own::Rotated), data))?;
        let next = state.store.next()?;
        let store = std::mem::replace(&mut state.store, next);
        let before = Before { store, at: state.at };
        (state.number, state.start, state.end) = (number, state.at, 0);
        self.begin_file(state)?;
        before.name_continued(&self.key)
    }

    /// Writes the head record and the first entry of a file that continues another one.
    fn begin_file(&self, state: &mut State) -> Result<(), AuditError> {
        let Point { count, last } = state.at;
        if state.store.head()?.is_none() {
            state.store.replace_head(&Head::new(state.at).encode(&self.key)?)?;
        }
        state.begun = Some(self.clock.wall());
        self.write_own(state, &RotationLink { file: state.number, count, last }.entry()?)
    }
}

/// Entries that are written, and acknowledged, together.
struct Group {
    before: Point,
    at: Point,
    latest: Option<SystemTime>,
    lines: Vec<u8>,
}

impl Group {
    fn after(before: Point) -> Self {
        Self { before, at: before, latest: None, lines: Vec::new() }
    }

    fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    fn has_room(&self) -> bool {
        self.at.count - self.before.count < GROUP_ENTRIES && self.lines.len() < GROUP_BYTES
    }

    /// Numbers, dates and seals an entry.
    fn add(&mut self, draft: &Draft, log: &Inner) -> Result<Receipt, AuditError> {
        let sequence = self.at.count + 1;
        if sequence > MAX_INTEGER {
            return Err(NotExact::Number { at: "/sequence".to_owned(), number: sequence.to_string() }.into());
        }
        let now = log.clock.wall();
        let time = format!("\"{}\"", rfc3339(now)?);
        let group = (!self.is_empty()).then_some(self.before.count + 1);
        let (line, mac) = draft.seal(Place { sequence, time: time.as_bytes(), group }, &log.key, &self.at.last);
        if line.len() > log.max_entry_bytes {
            return Err(AuditError::Long { bytes: line.len(), limit: log.max_entry_bytes });
        }
        self.at = Point { count: sequence, last: mac };
        self.latest = self.latest.max(Some(now));
        self.lines.extend_from_slice(&line);
        Ok(Receipt { sequence, mac })
    }
}

struct State {
    store: Box<dyn Store>,
    /// Which file of the log it is.
    number: u32,
    /// The end of the file before.
    start: Point,
    /// When its first entry was written.
    begun: Option<SystemTime>,
    /// The latest time of an entry.
    latest: Option<SystemTime>,
    /// The last entry.
    at: Point,
    /// Where the next one goes, in bytes.
    end: u64,
    broken: bool,
}

impl State {
    /// A log that was removed or replaced takes nothing more: its entries would be found by nobody, and another gate may
    /// have begun a log in its place.
    fn check_place(&mut self) -> Result<(), AuditError> {
        match self.store.misplaced()? {
            Some(path) => Err(AuditError::Misplaced(path)),
            None => Ok(()),
        }
    }

    fn write(&mut self, group: &Group, key: &Key) -> Result<(), AuditError> {
        let head = Head::new(group.at).encode(key)?;
        // Until both are written, it is not known what is.
        self.broken = true;
        self.check_place()?;
        self.store.append(self.end, &group.lines)?;
        self.store.set_head(&head)?;
        // Nothing counts as recorded that is no longer where a verifier reads it.
        self.check_place()?;
        self.broken = false;
        self.at = group.at;
        self.latest = self.latest.max(group.latest);
        self.end += group.lines.len() as u64;
        Ok(())
    }
}

fn rfc3339(time: SystemTime) -> Result<String, AuditError> {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) if since < YEAR_10000 => Ok(humantime::format_rfc3339_millis(time).to_string()),
        Ok(_) | Err(_) => Err(AuditError::Clock),
    }
}

/// How many entries a group has at most.
const GROUP_ENTRIES: u64 = 256;

/// A group that is as long as this takes no more entries, in bytes.
const GROUP_BYTES: usize = 4 * 1024 * 1024;

/// Since 1970.
const YEAR_10000: Duration = Duration::from_secs(253_402_300_800);
