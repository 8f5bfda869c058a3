//! Log open for writing.

mod async_append;
mod entry_queue;
mod open;
mod rotation;

use std::fmt;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use omen_types::limits::MAX_LINE_BYTES;
use serde_json::{Map, json};

pub use self::async_append::DeferredEntry;
pub use self::entry_queue::Receipt;
use self::entry_queue::{EntryQueue, LeadSignal, LeaderGuard, QueuedEntry, Waiter};
pub use self::open::Checkpoint;
use self::open::OpenedFile;
use crate::anchor::Anchor;
use crate::chain::ChainPosition;
use crate::chain::entry::{Entry, Kind, Label, OwnKind, Record};
use crate::chain::head::Head;
use crate::chain::line::{Draft, LinePosition};
use crate::error::AuditError;
use crate::key::Key;
use crate::replayed_state::{InDoubt, ReplayedState};
use crate::store::{Files, Memory, Store};
use omen_base::json::MAX_INTEGER;
use omen_base::{GateClock, NotExact};

/// Audit log open for writing. Clones write to the same log, from any thread.
///
/// Appending waits for the disk: a few milliseconds with `sync`. Asynchronous code should append on a thread that may block.
#[derive(Clone)]
pub struct Audit {
    inner: Arc<AuditParts>,
}

/// Options of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether an entry counts as recorded only when it survives a power failure. If off, it survives the death of the
    /// process, but after a power failure, acknowledged entries may be missing or the head record may be older than the
    /// log, which then counts as truncated or tampered with. On by default.
    pub sync: bool,
    /// Maximum size of an entry's line in bytes, at most [`MAX_LINE_BYTES`]. 1 MiB by default.
    pub max_entry_bytes: usize,
    /// Size in bytes at which a log file is rotated: `audit.000002.jsonl` continues `audit.jsonl`. By default, files
    /// grow without limit.
    pub rotate_bytes: Option<NonZeroU64>,
    /// Age of a file, measured from its first entry, at which it is rotated when the next entry is written.
    pub rotate_after: Option<Duration>,
    /// Anchor that the log must contain to be opened, so that a log that was set back, truncated or rewritten is not
    /// continued. None by default.
    pub require: Option<Anchor>,
}

impl Default for Options {
    fn default() -> Self {
        Self { sync: true, max_entry_bytes: 1024 * 1024, rotate_bytes: None, rotate_after: None, require: None }
    }
}

impl Audit {
    /// Opens or creates a log in files. First verifies the whole log and repairs the remains of a crash: the start of a
    /// last line, which was never acknowledged, is cut off and kept in a file next to the log; whole entries stay; and
    /// an entry of the kind `repaired` names the files. If there was no crash, an entry `opened` is written.
    ///
    /// # Errors
    /// If the log is in use, was tampered with or truncated, or cannot be read or written.
    pub fn open(
        path: impl AsRef<Path>,
        key: Key,
        clock: Arc<dyn GateClock>,
        options: Options,
    ) -> Result<Self, AuditError> {
        Self::open_after(path, key, clock, options, &mut None)
    }

    /// Opens a log as [`open`](Self::open) does, and sets a checkpoint for the next time. With a checkpoint, only the entries
    /// after it are verified; if they do not match it, the whole log is.
    ///
    /// # Errors
    /// As for [`open`](Self::open). If the log is in use, the checkpoint is kept.
    pub fn open_after(
        path: impl AsRef<Path>,
        key: Key,
        clock: Arc<dyn GateClock>,
        options: Options,
        checkpoint: &mut Option<Checkpoint>,
    ) -> Result<Self, AuditError> {
        let path = path.as_ref();
        let known = checkpoint.take().filter(|known| known.require == options.require);
        let files = match known.as_ref().map(|known| Files::open_numbered(path, known.number, options.sync)) {
            Some(Err(error @ AuditError::InUse(_))) => {
                *checkpoint = known;
                return Err(error);
            }
            files => files.and_then(Result::ok),
        };
        let after = files.and_then(|files| open::open(Box::new(files), &key, options.require.as_ref(), known).ok());
        let mut opened = match after {
            Some(opened) => opened,
            None => open::open_files(path, &key, options.require.as_ref(), options.sync)?,
        };
        let OpenedFile { number, start, part, .. } = opened;
        let next = Checkpoint { number, start, part, require: options.require.clone(), past: opened.past.clone() };
        *checkpoint = (opened.own == OwnKind::Opened).then_some(next);
        opened.past.end();
        Self::begin(opened, key, clock, options)
    }

    /// Opens or creates a log in any store. The store decides about `options.sync`.
    ///
    /// # Errors
    /// If the log was tampered with or truncated, or cannot be read or written.
    pub fn over(store: impl Store, key: Key, clock: Arc<dyn GateClock>, options: Options) -> Result<Self, AuditError> {
        let mut opened = open::open(Box::new(store), &key, options.require.as_ref(), None)?;
        opened.past.end();
        Self::begin(opened, key, clock, options)
    }

    /// Begins writing to an opened log.
    fn begin(opened: OpenedFile, key: Key, clock: Arc<dyn GateClock>, options: Options) -> Result<Self, AuditError> {
        let OpenedFile { store, number, start, at, end, begun, own, data, before, past, .. } = opened;
        let waits = store.waits();
        let state = State { store, number, start, at, end, begun, latest: past.latest(), broken: false };
        let is_new = number > 1 && end == 0;
        let max_entry_bytes = options.max_entry_bytes.min(MAX_LINE_BYTES);
        let inner = AuditParts {
            key,
            clock,
            max_entry_bytes,
            rotation: Rotation { bytes: options.rotate_bytes, age: options.rotate_after },
            past,
            waits,
            waiting: EntryQueue::default(),
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

    /// Derives a key from the log's key, for a purpose that must be unique to the caller.
    #[must_use]
    pub fn derived(&self, purpose: &str) -> [u8; 32] {
        self.inner.key.derived(purpose)
    }

    /// Appends a record. When this returns a receipt, the entry is in the log and covered by the head record.
    ///
    /// Simultaneous entries from several threads are written together and wait for the disk together.
    ///
    /// # Errors
    /// If the entry is not recorded. After a failed write, nothing more is recorded until the log is opened again, and
    /// it is unknown whether the entry is in the log.
    pub fn append(&self, record: Record<'_>) -> Result<Receipt, AuditError> {
        self.write(record.into())
    }

    /// Returns an anchor for the current end of the log, to be kept elsewhere.
    ///
    /// # Errors
    /// If a write failed, so the end of the log is unknown.
    pub fn anchor(&self) -> Result<Anchor, AuditError> {
        let state = self.inner.state()?;
        Ok(Anchor::new(state.at, &self.inner.key)?)
    }

    /// Returns calls that may have run and had no known outcome when the log was opened, because the gate died in
    /// between (PG-6), in log order.
    #[must_use]
    pub fn in_doubt(&self) -> Vec<InDoubt> {
        self.inner.past.in_doubt().into_iter().cloned().collect()
    }

    /// Settles a call in doubt, identified by the number of its intent: records whether its tool ran, as somebody has
    /// found out. The call is no longer in doubt when the log is next opened.
    ///
    /// # Errors
    /// [`AuditError::NotInDoubt`] if there is no such call, or if the entry is not recorded.
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

    /// Returns the latest time of any entry, whatever the clock shows now (D56).
    ///
    /// # Errors
    /// If a write failed, so the content of the log is unknown.
    pub fn latest(&self) -> Result<Option<SystemTime>, AuditError> {
        Ok(self.inner.state()?.latest)
    }

    /// Returns the state replayed from the log when it was opened.
    pub fn past(&self) -> &ReplayedState {
        &self.inner.past
    }

    /// Writes the queued entries and closes the log for all clones, so that it can be opened again at once. Records
    /// appended afterwards are not recorded.
    pub fn close(&self) {
        self.inner.write_group();
        let mut state = self.inner.state.lock().unwrap_or_else(PoisonError::into_inner);
        (state.broken, state.store) = (true, Box::new(Memory::default()));
    }

    /// Appends an entry and waits until it is recorded.
    fn write(&self, entry: Entry) -> Result<Receipt, AuditError> {
        let (waiter, signals) = Waiter::thread();
        if self.inner.waiting.push(QueuedEntry { draft: Draft::new(&entry)?, waiter }) {
            self.inner.lead();
        }
        loop {
            match signals.recv() {
                Ok(LeadSignal::Lead) => self.inner.lead(),
                Ok(LeadSignal::Done(recorded)) => return recorded,
                // The thread that was to write the entry has panicked.
                Err(_) => return Err(AuditError::Broken),
            }
        }
    }
}

impl fmt::Debug for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Audit").finish_non_exhaustive()
    }
}

struct AuditParts {
    key: Key,
    clock: Arc<dyn GateClock>,
    max_entry_bytes: usize,
    rotation: Rotation,
    /// State replayed from the log when it was opened.
    past: ReplayedState,
    /// Whether writing blocks on a device.
    waits: bool,
    waiting: EntryQueue,
    state: Mutex<State>,
}

/// Conditions for rotation.
struct Rotation {
    bytes: Option<NonZeroU64>,
    age: Option<Duration>,
}

impl AuditParts {
    /// Locks the state if no write has failed.
    fn state(&self) -> Result<MutexGuard<'_, State>, AuditError> {
        match self.state.lock() {
            Ok(state) if !state.broken => Ok(state),
            // After a panic in the store, the end of the log is unknown too.
            Ok(_) | Err(_) => Err(AuditError::Broken),
        }
    }

    /// Writes group after group while this thread leads.
    fn lead(&self) {
        let lead = LeaderGuard(&self.waiting);
        loop {
            self.write_group();
            if !self.waiting.keeps_leader() {
                break;
            }
        }
        drop(lead);
    }

    /// Writes queued entries, up to the maximum group size, and notifies their waiters.
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
            && let Some(QueuedEntry { draft, waiter }) = self.waiting.pop()
        {
            match group.add(&draft, self) {
                Ok(receipt) => waiters.push((waiter, receipt)),
                // Only this entry is not recorded.
                Err(error) => waiter.notify(Err(error)),
            }
        }
        let written = if group.is_empty() { Ok(()) } else { state.write(&group, &self.key) };
        // The next group need not wait until all waiters are notified.
        drop(state);
        for (waiter, receipt) in waiters {
            waiter.notify(match &written {
                Ok(()) => Ok(receipt),
                Err(error) => Err(error.again()),
            });
        }
    }

    /// Writes an entry of the log itself.
    fn write_own(&self, state: &mut State, entry: &Entry) -> Result<(), AuditError> {
        let mut group = Group::after(state.at);
        let _ = group.add(&Draft::new(entry)?, self)?;
        state.write(&group, &self.key)
    }
}

/// Entries that are written and acknowledged together.
struct Group {
    before: ChainPosition,
    at: ChainPosition,
    latest: Option<SystemTime>,
    lines: Vec<u8>,
}

impl Group {
    fn after(before: ChainPosition) -> Self {
        Self { before, at: before, latest: None, lines: Vec::new() }
    }

    fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    fn has_room(&self) -> bool {
        self.at.count - self.before.count < GROUP_ENTRIES && self.lines.len() < GROUP_BYTES
    }

    /// Assigns a number and time to an entry and seals it.
    fn add(&mut self, draft: &Draft, log: &AuditParts) -> Result<Receipt, AuditError> {
        let sequence = self.at.count + 1;
        if sequence > MAX_INTEGER {
            return Err(NotExact::Number { at: "/sequence".to_owned(), number: sequence.to_string() }.into());
        }
        let now = log.clock.wall();
        let time = format!("\"{}\"", rfc3339(now)?);
        let group = (!self.is_empty()).then_some(self.before.count + 1);
        let (line, mac) = draft.seal(LinePosition { sequence, time: time.as_bytes(), group }, &log.key, &self.at.last);
        if line.len() > log.max_entry_bytes {
            return Err(AuditError::Long { bytes: line.len(), limit: log.max_entry_bytes });
        }
        self.at = ChainPosition { count: sequence, last: mac };
        self.latest = self.latest.max(Some(now));
        self.lines.extend_from_slice(&line);
        Ok(Receipt { sequence, mac })
    }
}

struct State {
    store: Box<dyn Store>,
    /// Number of this file within the log.
    number: u32,
    /// End of the previous file.
    start: ChainPosition,
    /// Time of the file's first entry.
    begun: Option<SystemTime>,
    /// Latest time of an entry.
    latest: Option<SystemTime>,
    /// Position of the last entry.
    at: ChainPosition,
    /// Offset of the next entry in bytes.
    end: u64,
    broken: bool,
}

impl State {
    /// Refuses to write to a log that was removed or replaced: the entries would be lost, and another gate may have
    /// started a log in its place.
    fn check_place(&mut self) -> Result<(), AuditError> {
        match self.store.misplaced()? {
            Some(path) => Err(AuditError::Misplaced(path)),
            None => Ok(()),
        }
    }

    fn write(&mut self, group: &Group, key: &Key) -> Result<(), AuditError> {
        let head = Head::new(group.at).encode(key)?;
        // Until both are written, the state on disk is unknown.
        self.broken = true;
        self.check_place()?;
        self.store.append(self.end, &group.lines)?;
        self.store.set_head(&head)?;
        // An entry counts as recorded only in a file where a verifier reads it.
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

/// Maximum number of entries in a group.
const GROUP_ENTRIES: u64 = 256;

/// Size in bytes at which a group is complete.
const GROUP_BYTES: usize = 4 * 1024 * 1024;

/// Start of the year 10000, in time since 1970.
const YEAR_10000: Duration = Duration::from_secs(253_402_300_800);
