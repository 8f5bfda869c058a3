//! Opening of a log: verification of its files from the first one on, repair after a crash, and completion of an
//! interrupted rotation.

use std::io::{self, Read};
use std::path::Path;
use std::time::SystemTime;

use serde_json::{Map, Value, json};

use crate::anchor::Anchor;
use crate::chain::ChainPosition;
use crate::chain::entry::{Entry, Label, OwnKind};
use crate::chain::head::Head;
use crate::error::AuditError;
use crate::key::Key;
use crate::replayed_state::ReplayedState;
use crate::store::{Files, Store};
use crate::verify::{LogVerdict, Tampering, VerifiedPart, Verifier};

/// Last file of a log, ready for appending once its own entry is written.
pub(super) struct OpenedFile {
    pub(super) store: Box<dyn Store>,
    pub(super) number: u32,
    /// End of the previous file.
    pub(super) start: ChainPosition,
    /// Position of the last entry, and offset of the next one in bytes.
    pub(super) at: ChainPosition,
    pub(super) end: u64,
    pub(super) begun: Option<SystemTime>,
    /// Entry to write first, and its data.
    pub(super) own: OwnKind,
    pub(super) data: Map<String, Value>,
    /// Previous file, if its head record does not yet note that this one exists.
    pub(super) before: Option<FinishedFile>,
    /// State replayed from the log, not yet completed.
    pub(super) past: ReplayedState,
    /// Verified part of the file.
    pub(super) part: VerifiedPart,
}

/// Verified part of a log, with the state replayed from it. [`Audit::open_after`](crate::Audit::open_after) verifies only the
/// entries after it, and does not notice changes before it.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// Number of the log's last file.
    pub(super) number: u32,
    /// End of the previous file.
    pub(super) start: ChainPosition,
    pub(super) part: VerifiedPart,
    /// Anchor with which the log was compared.
    pub(super) require: Option<Anchor>,
    /// State before completion: calls may still get their outcome.
    pub(super) past: ReplayedState,
}

pub(super) struct FinishedFile {
    pub(super) store: Box<dyn Store>,
    pub(super) at: ChainPosition,
}

impl FinishedFile {
    /// Notes that the next file exists.
    pub(super) fn name_continued(mut self, key: &Key) -> Result<(), AuditError> {
        let head = Head { continued: true, ..Head::new(self.at) };
        Ok(self.store.replace_head(&head.encode(key)?)?)
    }
}

/// Result of verifying a file.
struct FileState {
    part: VerifiedPart,
    at: ChainPosition,
    bytes: u64,
    begun: Option<SystemTime>,
    is_closed: bool,
    is_continued: bool,
    has_head: bool,
    /// Unacknowledged entries and bytes to repair.
    entries: u64,
    torn: u64,
    /// Whether the file has any entries besides those of the log itself.
    has_records: bool,
}

pub(super) fn open_files(
    path: &Path,
    key: &Key,
    require: Option<&Anchor>,
    sync: bool,
) -> Result<OpenedFile, AuditError> {
    let files = Files::open(path, sync)?;
    let is_missing = files.is_missing() && files.has_head();
    open(Box::new(files), key, require, None).map_err(|error| match error {
        AuditError::NotSound(LogVerdict::Truncated { .. }) if is_missing => AuditError::Gone(path.to_owned()),
        error => error,
    })
}

/// Opens a log from its first file on, or from the file of a checkpoint.
pub(super) fn open(
    mut store: Box<dyn Store>,
    key: &Key,
    require: Option<&Anchor>,
    from: Option<Checkpoint>,
) -> Result<OpenedFile, AuditError> {
    let (mut number, mut start, part, mut past) = match from {
        Some(Checkpoint { number, start, part, past, .. }) => (number, start, Some(part), past),
        None => (1, ChainPosition::genesis(key), None, ReplayedState::default()),
    };
    // A finished file that does not note its successor means that a crash interrupted the rotation.
    let mut before: Option<FinishedFile> = None;
    let mut adopted = 0;
    let mut found = find(&mut *store, (number, start, part), key, require, part.is_none(), &mut past)?;
    while found.is_closed {
        if before.is_some() {
            return Err(set_back(start.count));
        }
        if found.entries > 0 {
            // Noted first, so that the pending record also survives a crash of this process.
            store.replace_head(&Head { adopted: found.entries, ..Head::new(found.at) }.encode(key)?)?;
            adopted += found.entries;
        }
        (number, start) = (number + 1, found.at);
        let next = store.next().map_err(|error| match error.downcast() {
            Ok(error) => error,
            Err(error) => AuditError::from(error),
        })?;
        let ended = std::mem::replace(&mut store, next);
        let must_be_there = found.is_continued;
        found = find(&mut *store, (number, start, None), key, require, !must_be_there, &mut past)?;
        if must_be_there && found.at == start {
            return Err(AuditError::NotSound(LogVerdict::Truncated { have: start.count, want: start.count + 1 }));
        }
        if !must_be_there {
            before = Some(FinishedFile { store: ended, at: start });
        }
    }
    if before.is_some() && found.has_records {
        return Err(set_back(start.count));
    }
    if store.has_next()? {
        return Err(AuditError::NotSound(LogVerdict::Tampered(Tampering::NotClosed(number + 1))));
    }
    // If the anchor's entry exists, it has been compared. A later anchor, or any anchor for an empty log, has not.
    if let Some(anchor) = require.filter(|anchor| anchor.count() > found.at.count || found.at.count == 0) {
        return Err(AuditError::NotSound(LogVerdict::Truncated { have: found.at.count, want: anchor.count() }));
    }
    // A crash of this process before the record of the repair is written would lose it. The head record therefore notes
    // the repair first, and the cut bytes are kept under a name that shows their offset.
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
        if repaired { (OwnKind::Repaired, repair(entries, found.torn, kept)) } else { (OwnKind::Opened, Map::new()) };
    let FileState { part, at, bytes: end, begun, .. } = found;
    Ok(OpenedFile { store, number, start, at, end, begun, own, data, before, past, part })
}

/// Verifies a file, or the entries after a part of it. A file that may be missing counts as a log not yet started.
fn find(
    store: &mut dyn Store,
    (number, start, part): (u32, ChainPosition, Option<VerifiedPart>),
    key: &Key,
    require: Option<&Anchor>,
    may_be_missing: bool,
    past: &mut ReplayedState,
) -> Result<FileState, AuditError> {
    let head = store.head()?;
    let mut has_records = false;
    let mut verifier = Verifier::of_file(number, start, head.as_deref(), key, require).with_the_anchor_elsewhere();
    if let Some(part) = part {
        verifier = verifier.after(part);
    }
    let mut log = store.log()?;
    let is_nothing = log.is_none() && head.is_none();
    let skipped = part.map_or(0, |part| part.bytes);
    let there = log.as_mut().map_or(Ok(0), |log| io::copy(&mut Read::take(log, skipped), &mut io::sink()))?;
    if there < skipped {
        return Err(AuditError::NotSound(LogVerdict::Truncated { have: start.count, want: verifier.point().count }));
    }
    match log {
        Some(log) => verifier.read(log, &mut |entry: &Entry| {
            has_records |= matches!(entry.kind, Label::Record(_));
            past.add(entry);
        })?,
        None => verifier.read(io::empty(), &mut |_| {})?,
    }
    let mut found = FileState {
        part: verifier.part(),
        at: verifier.point(),
        bytes: 0,
        begun: verifier.begun,
        is_closed: verifier.is_closed,
        is_continued: verifier.named.is_some_and(|head| head.continued),
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

/// Builds the error for a head record that does not note the next file, although entries were acknowledged in it.
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
