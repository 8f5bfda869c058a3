//! Head record: the end of the acknowledged log (D49).
//!
//! Without the head record, entries could be removed from the end unnoticed. The record has 512 bytes, the size of a sector, and
//! is written in place: storage writes a sector as a whole, so a crash leaves either the old record or the new one. If a write
//! nevertheless stops midway, the verifier detects it, because it can compute both records from the key and the log.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ChainPosition;
use super::entry::Version;
use crate::key::{Key, Mac};
use omen_base::{NotExact, canonical};

/// Content of the head record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) at: ChainPosition,
    /// Number of entries at the end that were written but not acknowledged before a crash, until this is recorded.
    pub(crate) adopted: u64,
    /// Whether the file has ended and the next one has been safely written.
    pub(crate) continued: bool,
}

impl Head {
    pub(crate) fn new(at: ChainPosition) -> Self {
        Self { at, adopted: 0, continued: false }
    }

    /// Encodes the record as a single line, padded with blanks.
    pub(crate) fn encode(self, key: &Key) -> Result<[u8; SIZE], NotExact> {
        let text = SealedPosition::new(key, LABEL, self)?.text()?;
        let mut bytes = [b' '; SIZE];
        // INVARIANT: a record has at most about 250 bytes, even with the largest numbers.
        bytes.iter_mut().zip(text).for_each(|(byte, text)| *byte = text);
        if let Some(last) = bytes.last_mut() {
            *last = b'\n';
        }
        Ok(bytes)
    }

    /// Decodes a record if the bytes are exactly a record sealed with this key.
    pub(crate) fn decode(bytes: &[u8], key: &Key) -> Option<Self> {
        let sealed: SealedPosition = serde_json::from_slice(bytes).ok()?;
        let at = sealed.open(key, LABEL)?;
        let head = Self { at, adopted: sealed.adopted.0, continued: sealed.continued };
        (head.encode(key).ok()? == *bytes).then_some(head)
    }

    /// Returns whether the bytes are a partial write of the head at `new` over another record.
    pub(crate) fn is_torn(bytes: &[u8], old: Self, new: ChainPosition, key: &Key) -> bool {
        // Records with `adopted` or `continued` are only written atomically, by replacement.
        let Ok(new) = Self::new(new).encode(key) else { return false };
        let written = bytes.iter().zip(&new).take_while(|(byte, new)| byte == new).count();
        let old = old.encode(key);
        old.is_ok_and(|old| bytes.len() == SIZE && bytes.get(written..) == old.get(written..))
    }
}

/// Sealed position, in a head record or an anchor.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SealedPosition {
    #[serde(default, skip_serializing_if = "AdoptedCount::is_none")]
    adopted: AdoptedCount,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    continued: bool,
    count: u64,
    last: Mac,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seal: Option<Mac>,
    v: Version,
}

impl SealedPosition {
    /// Seals a position. The label prevents a seal for one purpose from being used for another.
    pub(crate) fn new(key: &Key, label: &[u8], head: Head) -> Result<Self, NotExact> {
        let Head { at, adopted, continued } = head;
        let adopted = AdoptedCount(adopted);
        let mut sealed = Self { adopted, continued, count: at.count, last: at.last, seal: None, v: Version };
        sealed.seal = Some(key.seal(&[label, &sealed.text()?]));
        Ok(sealed)
    }

    /// Returns the position if the seal is valid.
    pub(crate) fn open(&self, key: &Key, label: &[u8]) -> Option<ChainPosition> {
        let unsealed = Self { seal: None, ..*self }.text().ok()?;
        let fits = self.seal.is_some_and(|seal| key.fits(&[label, &unsealed], &seal));
        fits.then_some(ChainPosition { count: self.count, last: self.last })
    }

    pub(crate) fn text(&self) -> Result<Vec<u8>, NotExact> {
        canonical::write(self)
    }
}

/// Number of adopted entries. A count of one is written as `true`, as in earlier versions, which adopted at most one.
#[derive(Clone, Copy, Debug, Default)]
struct AdoptedCount(u64);

impl AdoptedCount {
    fn is_none(&self) -> bool {
        self.0 == 0
    }
}

impl Serialize for AdoptedCount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            entries @ (0 | 1) => serializer.serialize_bool(entries == 1),
            entries => serializer.serialize_u64(entries),
        }
    }
}

impl<'de> Deserialize<'de> for AdoptedCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum AdoptedForm {
            One(bool),
            Several(u64),
        }
        AdoptedForm::deserialize(deserializer).map(|form| match form {
            AdoptedForm::One(is_one) => Self(u64::from(is_one)),
            AdoptedForm::Several(entries) => Self(entries),
        })
    }
}

const LABEL: &[u8] = b"omen-gate audit log v1: head";

/// Size of a head record in bytes.
pub(crate) const SIZE: usize = 512;
