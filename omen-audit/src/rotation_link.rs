//! The seam between two files of a log: the first entry of a file names the end of the one before, and is sealed behind it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Mac;
use super::entry::{Entry, Label, Own};
use super::flaw::Flaw;
use omen_base::NotExact;

/// The data of the first entry of a file that continues another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RotationLink {
    /// The number of this file.
    pub(crate) file: u32,
    /// How many entries there are in the files before.
    pub(crate) count: u64,
    /// The seal of the last of them.
    pub(crate) last: Mac,
}

impl RotationLink {
    /// The entry.
    pub(crate) fn entry(&self) -> Result<Entry, NotExact> {
        match serde_json::to_value(self) {
            Ok(Value::Object(data)) => Ok(Entry::new(Label::Own(Own::Continued), data)),
            Ok(_) => Ok(Entry::new(Label::Own(Own::Continued), Map::new())),
            Err(error) => Err(NotExact::Unwritable { why: error.to_string() }),
        }
    }

    /// What an entry says of the file before, if it begins a file that continues another one.
    pub(crate) fn of(entry: &Entry) -> Option<Self> {
        let is_seam = entry.kind == Label::Own(Own::Continued);
        is_seam.then(|| serde_json::from_value(Value::Object(entry.data.clone())).ok()).flatten()
    }

    /// Checks the first entry of a file.
    pub(crate) fn check(&self, entry: &Entry) -> Result<(), Flaw> {
        match (Self::of(entry), self.file) {
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
