//! Rotation: a log file that has reached its maximum size or age ends, and another one continues the log.
//!
//! [`RotationLink`] is the link between the two; [`open`](super::open) completes a rotation that a crash has interrupted.

use serde_json::{Map, json};

use super::open::FinishedFile;
use super::{AuditParts, State};
use crate::chain::ChainPosition;
use crate::chain::entry::{Entry, Label, OwnKind};
use crate::chain::head::Head;
use crate::chain::rotation_link::RotationLink;
use crate::error::AuditError;
use crate::verify::{LogVerdict, Tampering};

impl AuditParts {
    /// Rotates the file if it has reached its maximum size or age. A file has at least one entry after its first one.
    pub(super) fn rotate_if_due(&self, state: &mut State) -> Result<(), AuditError> {
        let is_long = self.rotation.bytes.is_some_and(|bytes| state.end >= bytes.get());
        let is_old = self.rotation.age.is_some_and(|age| {
            state.begun.is_some_and(|begun| self.clock.wall().duration_since(begun).is_ok_and(|since| since >= age))
        });
        if state.at.count <= state.start.count + 1 || !(is_long || is_old) {
            return Ok(());
        }
        let result = self.rotate(state);
        // After an interrupted rotation, it is unknown which file is the last one.
        state.broken |= result.is_err();
        result
    }

    /// Rotates the log: writes the last entry of this file; then the next file, whose first entry refers to that entry;
    /// then a note in this file's head record that the next file exists. A missing file is therefore detected, and
    /// nothing is acknowledged in a file that could be taken for the remains of a crash.
    fn rotate(&self, state: &mut State) -> Result<(), AuditError> {
        let number = state.number.checked_add(1).ok_or(AuditError::Broken)?;
        if state.store.has_next()? {
            return Err(AuditError::NotSound(LogVerdict::Tampered(Tampering::NotClosed(number))));
        }
        let mut data = Map::new();
        data.insert("file".into(), json!(number));
        self.write_own(state, &Entry::new(Label::Own(OwnKind::Rotated), data))?;
        let next = state.store.next()?;
        let store = std::mem::replace(&mut state.store, next);
        let before = FinishedFile { store, at: state.at };
        (state.number, state.start, state.end) = (number, state.at, 0);
        self.begin_file(state)?;
        before.name_continued(&self.key)
    }

    /// Writes the head record and the first entry of a continuing file.
    pub(super) fn begin_file(&self, state: &mut State) -> Result<(), AuditError> {
        let ChainPosition { count, last } = state.at;
        if state.store.head()?.is_none() {
            state.store.replace_head(&Head::new(state.at).encode(&self.key)?)?;
        }
        state.begun = Some(self.clock.wall());
        self.write_own(state, &RotationLink { file: state.number, count, last }.entry()?)
    }
}
