//! The head record: how far the log was acknowledged (D49).
//!
//! Without it, entries could be taken off the end and nobody would know. It is 512 bytes, the size of a sector, written
//! in place: storage writes a sector whole, so a crash leaves the old record or the new one. Should a write stop midway
//! nevertheless, the verifier detects it, because with key and log it knows both records.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::entry::Version;
use super::{Key, Mac};
use omen_base::{NotExact, canonical};

/// A place in the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    /// Entries up to here.
    pub(crate) count: u64,
    /// The seal of the last of them.
    pub(crate) last: Mac,
}

/// The head record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) at: Point,
    /// How many entries at the end were written, but not acknowledged before a crash, which is still to be recorded.
    pub(crate) adopted: u64,
    /// The file is at its end, and the one that continues it is safely there.
    pub(crate) continued: bool,
}

impl Head {
    /// The record after an entry.
    pub(crate) fn new(at: Point) -> Self {
        Self { at, adopted: 0, continued: false }
    }
}

impl Head {
    /// The record as it is written: one line, filled up with blanks.
    pub(crate) fn encode(self, key: &Key) -> Result<[u8; SIZE], NotExact> {
        let text = Sealed::new(key, LABEL, self)?.text()?;
        let mut bytes = [b' '; SIZE];
        // INVARIANT: a record has some 250 bytes at most, with its numbers at their largest.
        bytes.iter_mut().zip(text).for_each(|(byte, text)| *byte = text);
        if let Some(last) = bytes.last_mut() {
            *last = b'\n';
        }
        Ok(bytes)
    }

    /// Reads a record, if these are the very bytes of one that was sealed with this key.
    pub(crate) fn decode(bytes: &[u8], key: &Key) -> Option<Self> {
        let sealed: Sealed = serde_json::from_slice(bytes).ok()?;
        let at = sealed.open(key, LABEL)?;
        let head = Self { at, adopted: sealed.adopted.0, continued: sealed.continued };
        (head.encode(key).ok()? == *bytes).then_some(head)
    }

    /// Whether these bytes are what is left of a write of the head at `new` over another one that stopped midway.
    pub(crate) fn is_torn(bytes: &[u8], old: Self, new: Point, key: &Key) -> bool {
        // Only heads that are made anew say `adopted` or `continued`, and that happens whole or not at all.
        let Ok(new) = Self::new(new).encode(key) else { return false };
        let written = bytes.iter().zip(&new).take_while(|(byte, new)| byte == new).count();
        let old = old.encode(key);
        old.is_ok_and(|old| bytes.len() == SIZE && bytes.get(written..) == old.get(written..))
    }
}

/// What a count and a seal are written as, here and in an anchor.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sealed {
    #[serde(default, skip_serializing_if = "Adopted::is_none")]
    adopted: Adopted,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    continued: bool,
    count: u64,
    last: Mac,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seal: Option<Mac>,
    v: Version,
}

impl Sealed {
    /// Seals a place. The label keeps what was sealed for one purpose from serving another.
    pub(crate) fn new(key: &Key, label: &[u8], head: Head) -> Result<Self, NotExact> {
        let Head { at, adopted, continued } = head;
        let adopted = Adopted(adopted);
        let mut sealed = Self { adopted, continued, count: at.count, last: at.last, seal: None, v: Version };
        sealed.seal = Some(key.seal(&[label, &sealed.text()?]));
        Ok(sealed)
    }

    /// The place, if the seal fits.
    pub(crate) fn open(&self, key: &Key, label: &[u8]) -> Option<Point> {
        let unsealed = Self { seal: None, ..*self }.text().ok()?;
        let fits = self.seal.is_some_and(|seal| key.fits(&[label, &unsealed], &seal));
        fits.then_some(Point { count: self.count, last: self.last })
    }

    pub(crate) fn text(&self) -> Result<Vec<u8>, NotExact> {
        canonical::write(self)
    }
}

/// How many entries are adopted. One is `true`, as it was when there could not be more.
#[derive(Clone, Copy, Debug, Default)]
struct Adopted(u64);

impl Adopted {
    fn is_none(&self) -> bool {
        self.0 == 0
    }
}

impl Serialize for Adopted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            entries @ (0 | 1) => serializer.serialize_bool(entries == 1),
            entries => serializer.serialize_u64(entries),
        }
    }
}

impl<'de> Deserialize<'de> for Adopted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            One(bool),
            Several(u64),
        }
        Form::deserialize(deserializer).map(|form| match form {
            Form::One(is_one) => Self(u64::from(is_one)),
            Form::Several(entries) => Self(entries),
        })
    }
}

const LABEL: &[u8] = b"omen-gate audit log v1: head";

/// Bytes of a head record.
pub(crate) const SIZE: usize = 512;
