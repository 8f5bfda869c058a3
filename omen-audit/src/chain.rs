//! A1: the chain of seals. The MAC of each entry is computed over the previous MAC and the entry's canonical bytes.

use super::entry::Entry;
use super::flaw::Flaw;
use super::head::ChainPosition;
use super::line::{Draft, LinePosition, sealed};
use super::{Key, Mac};
use omen_base::canonical;

impl Entry {
    /// Checks a line, without its line break, against its position in the chain, and returns the entry with its seal.
    pub(crate) fn judge(line: &[u8], key: &Key, previous: &Mac, sequence: u64) -> Result<(Self, Mac), Flaw> {
        let entry: Self = serde_json::from_slice(line).map_err(Flaw::not_entry)?;
        if entry.sequence != sequence {
            return Err(Flaw::Sequence { expected: sequence, found: entry.sequence });
        }
        let mac = entry.mac.ok_or_else(|| Flaw::not_entry("it has no `mac`"))?;
        let time = canonical::write_text(&entry.time).map_err(Flaw::not_entry)?;
        let place = LinePosition { sequence, time: &time, group: entry.group };
        let (before, after) = Draft::encode(&entry).map_err(Flaw::not_entry)?.unsealed(place);
        if !key.fits(&[previous.as_bytes(), &before, &after], &mac) {
            return Err(Flaw::Mac);
        }
        if sealed(&before, &mac, &after) == line { Ok((entry, mac)) } else { Err(Flaw::Form) }
    }
}

impl ChainPosition {
    /// Returns the start of the chain, before the first entry.
    pub(crate) fn genesis(key: &Key) -> Self {
        Self { count: 0, last: key.seal(&[b"omen-gate audit log v1: genesis"]) }
    }
}
