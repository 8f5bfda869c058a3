//! A1: the chain of seals. The MAC of each entry is computed over the MAC before it and the entry's canonical bytes.

use super::entry::Entry;
use super::flaw::Flaw;
use super::head::Point;
use super::{Key, Mac};
use crate::base::NotExact;
use crate::base::canonical;

impl Entry {
    /// Seals the entry behind another one, and gives its line with the line break.
    pub(crate) fn seal(&mut self, key: &Key, previous: &Mac) -> Result<(Vec<u8>, Mac), NotExact> {
        canonical::check_inner(&self.data)?;
        self.mac = None;
        let mac = key.seal(&[previous.as_bytes(), &canonical::write(self)?]);
        self.mac = Some(mac);
        let mut line = canonical::write(self)?;
        line.push(b'\n');
        Ok((line, mac))
    }

    /// Judges a line, without its line break, by its place in the chain, and gives the entry with its seal.
    pub(crate) fn judge(line: &[u8], key: &Key, previous: &Mac, sequence: u64) -> Result<(Self, Mac), Flaw> {
        let mut entry: Self = serde_json::from_slice(line).map_err(Flaw::not_entry)?;
        if entry.sequence != sequence {
            return Err(Flaw::Sequence { expected: sequence, found: entry.sequence });
        }
        let mac = entry.mac.take().ok_or_else(|| Flaw::not_entry("it has no `mac`"))?;
        let unsealed = canonical::write(&entry).map_err(Flaw::not_entry)?;
        if !key.fits(&[previous.as_bytes(), &unsealed], &mac) {
            return Err(Flaw::Mac);
        }
        entry.mac = Some(mac);
        match canonical::write(&entry) {
            Ok(canonical) if canonical == line => Ok((entry, mac)),
            _ => Err(Flaw::Form),
        }
    }
}

impl Point {
    /// What stands before the first entry.
    pub(crate) fn genesis(key: &Key) -> Self {
        Self { count: 0, last: key.seal(&[b"omen-gate audit log v1: genesis"]) }
    }
}
