//! Formats of compressed inputs, and their errors.

use std::io::{self, Read};
use std::path::Path;

/// Any source of bytes.
pub type Source = Box<dyn Read + Send>;

/// Compression of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Gzip,
    Zstd,
}

impl Kind {
    pub(super) fn of_magic(head: &[u8]) -> Option<Self> {
        if head.starts_with(GZIP) {
            return Some(Self::Gzip);
        }
        let is_zstd = head.len() == MAGIC_BYTES && (head.starts_with(ZSTD) || is_skippable(head));
        is_zstd.then_some(Self::Zstd)
    }

    pub(super) fn of_name(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "gz" => Some(Self::Gzip),
            "zst" => Some(Self::Zstd),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// Returns the error for an archive that ends too early.
pub(super) fn truncated(kind: Kind) -> io::Error {
    let message = format!("the {} archive is truncated; only what could be decoded was read", kind.name());
    io::Error::new(io::ErrorKind::UnexpectedEof, message)
}

/// Returns the error for an archive that cannot be decoded further.
pub(super) fn corrupt(kind: Kind, why: impl std::fmt::Display) -> io::Error {
    let message = format!("the {} archive is corrupt ({why}); only what could be decoded was read", kind.name());
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// Returns whether these are the first bytes of a skippable zstd frame.
pub(super) fn is_skippable(head: &[u8]) -> bool {
    let begins = |tail: &[u8]| ZSTD_SKIPPABLE.starts_with(tail) || tail.starts_with(ZSTD_SKIPPABLE);
    head.split_first().is_none_or(|(first, tail)| (0x50..=0x5f).contains(first) && begins(tail))
}

pub(super) const GZIP: &[u8] = &[0x1f, 0x8b];
pub(super) const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// Magic bytes of a skippable frame after the first, which is a byte from 0x50 to 0x5f.
const ZSTD_SKIPPABLE: &[u8] = &[0x2a, 0x4d, 0x18];

/// Maximum number of bytes needed to recognize an archive.
pub(super) const MAGIC_BYTES: usize = 4;
