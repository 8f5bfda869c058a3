//! Link between two log files: the first entry of a file names the end of the previous one and is sealed after it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Flaw;
use super::entry::{Entry, Label, OwnKind};
use crate::key::Mac;
use omen_base::NotExact;

/// Data in the first entry of a continuing file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RotationLink {
    /// Number of this file.
    pub(crate) file: u32,
    /// Number of entries in the previous files.
    pub(crate) count: u64,
    /// Seal of the last entry in the previous files.
    pub(crate) last: Mac,
}

impl RotationLink {
    pub(crate) fn entry(&self) -> Result<Entry, NotExact> {
        match serde_json::to_value(self) {
            Ok(Value::Object(data)) => Ok(Entry::new(Label::Own(OwnKind::Continued), data)),
            Ok(_) => Ok(Entry::new(Label::Own(OwnKind::Continued), Map::new())),
            Err(error) => Err(NotExact::Unwritable { why: error.to_string() }),
        }
    }

    /// Reads the link from an entry if the entry begins a continuing file.
    pub(crate) fn from_entry(entry: &Entry) -> Option<Self> {
        let is_seam = entry.kind == Label::Own(OwnKind::Continued);
        is_seam.then(|| serde_json::from_value(Value::Object(entry.data.clone())).ok()).flatten()
    }

    /// Checks the first entry of a file.
    pub(crate) fn check(&self, entry: &Entry) -> Result<(), Flaw> {
        match (Self::from_entry(entry), self.file) {
            (None, 1) => Ok(()),
            (Some(seam), _) if seam == *self && self.file > 1 => Ok(()),
            (Some(seam), file) => {
                let why = format_args!(
                    "expected the start of file {file}, found that of file {}, which continues entry {}",
                    seam.file, seam.count
                );
                Err(Flaw::not_entry(why))
            }
            (None, file) => {
                Err(Flaw::not_entry(format_args!("expected the start of file {file}, which continues another")))
            }
        }
    }
}
