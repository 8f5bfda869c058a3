//! Opening a log: its files are verified from the first on, what a crash has left is repaired, and a rotation that a crash
//! has interrupted is finished.

use std::io;
use std::time::SystemTime;

use serde_json::{Map, Value, json};

use super::entry::{Entry, Label, Own};
use super::head::{Head, Point};
use super::replayed_state::ReplayedState;
use super::store::Store;
use super::verdict::{LogVerdict, Tampering};
use super::verify::Verifier;
use super::{Anchor, AuditError, Key};

/// The last file of a log, ready for more, once its own entry is written.
pub(super) struct Opened {
    pub(super) store: Box<dyn Store>,
    pub(super) number: u32,
    /// The end of the file before.
    pub(super) start: Point,
    /// The last entry, and where the next one goes, in bytes.
    pub(super) at: Point,
    pub(super) end: u64,
    pub(super) begun: Option<SystemTime>,
    /// The entry that is due, and its data.
    pub(super) own: Own,
    pub(super) data: Map<String, Value>,
    /// The file before, if it does not say yet that this one is there.
    pub(super) before: Option<Before>,
    /// What the log says of what was done before.
    pub(super) past: ReplayedState,
}

/// A file that has ended.
pub(super) struct Before {
    pub(super) store: Box<dyn Store>,
    pub(super) at: Point,
}

impl Before {
    /// Says that the file that continues it is there.
    pub(super) fn name_continued(mut self, key: &Key) -> Result<(), AuditError> {
        let head = Head { continued: true, ..Head::new(self.at) };
        Ok(self.store.replace_head(&head.encode(key)?)?)
    }
}

/// What verifying a file has shown.
struct Found {
    at: Point,
    bytes: u64,
    begun: Option<SystemTime>,
    is_closed: bool,
    is_continued: bool,
    has_head: bool,
    /// What is to be repaired: entries that were not acknowledged, and bytes of another one.
    entries: u64,
    torn: u64,
    /// There is an entry that is not of the log itself.
    has_records: bool,
}

pub(super) fn open(mut store: Box<dyn Store>, key: &Key, require: Option<&Anchor>) -> Result<Opened, AuditError> {
    let (mut number, mut start) = (1, Point::genesis(key));
    // A file that has ended, and does not say that the next one is there: a crash has interrupted the rotation.
    let mut before: Option<Before> = None;
    let mut adopted = 0;
    let mut past = ReplayedState::default();
    let mut found = find(&mut *store, number, start, key, require, true, &mut past)?;
    while found.is_closed {
        if before.is_some() {
            return Err(set_back(start.count));
        }
        if found.entries > 0 {
            // That it is to be recorded must not be lost, if this process, too, dies before it is.
            store.replace_head(&Head { adopted: found.entries, ..Head::new(found.at) }.encode(key)?)?;
            adopted += found.entries;
        }
        (number, start) = (number + 1, found.at);
        let next = store.next()?;
        let ended = std::mem::replace(&mut store, next);
        let must_be_there = found.is_continued;
        found = find(&mut *store, number, start, key, require, !must_be_there, &mut past)?;
        if must_be_there && found.at == start {
            return Err(AuditError::NotSound(LogVerdict::Truncated { have: start.count, want: start.count + 1 }));
        }
        if !must_be_there {
            before = Some(Before { store: ended, at: start });
        }
    }
    if before.is_some() && found.has_records {
        return Err(set_back(start.count));
    }
    if store.has_next()? {
        return Err(AuditError::NotSound(LogVerdict::Tampered(Tampering::NotClosed(number + 1))));
    }
    // An anchor of an entry that is there was compared with it. Before there is anything, nothing was.
    if let Some(anchor) = require.filter(|anchor| anchor.count() > found.at.count || found.at.count == 0) {
        return Err(AuditError::NotSound(LogVerdict::Truncated { have: found.at.count, want: anchor.count() }));
    }
    // The record of the repair would be lost if this process, too, died before it is written: so the head record says
    // first that it is due, and of what is cut off, the place where it is kept.
    if found.entries > 0 || !found.has_head {
        store.replace_head(&Head { adopted: found.entries, ..Head::new(found.at) }.encode(key)?)?;
    }
    if found.torn > 0 {
        store.set_aside(found.bytes)?;
    }
    let kept = store.kept(found.bytes)?;
    let entries = adopted + found.entries;
    let repaired = entries > 0 || found.torn > 0 || !kept.is_empty();
    let (own, data) =
        if repaired { (Own::Repaired, repair(entries, found.torn, kept)) } else { (Own::Opened, Map::new()) };
    past.end();
    Ok(Opened { store, number, start, at: found.at, end: found.bytes, begun: found.begun, own, data, before, past })
}

/// Verifies a file. If it may be missing, nothing is what there is before there is a log.
fn find(
    store: &mut dyn Store,
    number: u32,
    start: Point,
    key: &Key,
    require: Option<&Anchor>,
    may_be_missing: bool,
    past: &mut ReplayedState,
) -> Result<Found, AuditError> {
    let head = store.head()?;
    let mut has_records = false;
    let mut verifier = Verifier::of_file(number, start, head.as_deref(), key, require).with_the_anchor_elsewhere();
    let log = store.log()?;
    let is_nothing = log.is_none() && head.is_none();
    match log {
        Some(log) => verifier.read(log, &mut |entry: &Entry| {
            has_records |= matches!(entry.kind, Label::Record(_));
            past.add(entry);
        })?,
        None => verifier.read(io::empty(), &mut |_| {})?,
    }
    let mut found = Found {
        at: verifier.point(),
        bytes: 0,
        begun: verifier.begun(),
        is_closed: verifier.is_closed(),
        is_continued: verifier.named().is_some_and(|head| head.continued),
        has_head: head.is_some(),
        entries: 0,
        torn: 0,
        has_records,
    };
    if is_nothing && may_be_missing {
        return Ok(found);
    }
    if is_nothing {
        return Err(AuditError::NotSound(LogVerdict::Tampered(Tampering::FileMissing(number))));
    }
    let verified = verifier.finish();
    found.bytes = verified.bytes;
    match verified.verdict {
        LogVerdict::Sound => Ok(found),
        LogVerdict::Incomplete { entries, bytes } => {
            (found.entries, found.torn) = (entries, bytes);
            Ok(found)
        }
        LogVerdict::Tampered(_) | LogVerdict::Truncated { .. } => Err(AuditError::NotSound(verified.verdict)),
    }
}

/// A head record that does not say that the next file is there, though entries were acknowledged in it.
fn set_back(named: u64) -> AuditError {
    AuditError::NotSound(LogVerdict::Tampered(Tampering::HeadOld { named }))
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
