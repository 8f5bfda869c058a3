//! Compressed inputs, recognised by their first bytes and decoded as they are read.
//!
//! Memory does not depend on what an archive expands to: gzip has a window of 32 KiB, and a zstd frame that asks for one of more
//! than 128 MiB is refused.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek as _};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::zstd::ZstdDecoder;

/// Anything that bytes are read from.
pub(super) type Source = Box<dyn Read + Send>;

/// Decodes a source if it is compressed. A file that is named as an archive and ends before its first bytes are complete is a
/// truncated one.
pub(super) fn decoded(mut source: Source, path: &Path) -> io::Result<Source> {
    let mut head = Vec::with_capacity(MAGIC_BYTES);
    // One byte is enough to tell most logs from an archive, and a live input may have no more of them for now.
    while head.len() < MAGIC_BYTES && is_prefix(&head) {
        let mut byte = [0];
        match source.read(&mut byte) {
            Ok(0) => break,
            Ok(_) => head.extend_from_slice(&byte),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let kind = Kind::of_magic(&head);
    let named = Kind::of_name(path).filter(|_| head.len() < MAGIC_BYTES && is_prefix(&head));
    if kind.is_none()
        && let Some(named) = named
    {
        return Err(truncated(named));
    }
    let source = Cursor::new(head).chain(source);
    Ok(match kind {
        None => Box::new(source),
        Some(Kind::Gzip) => Box::new(Gzip(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, Box::new(source))))),
        Some(Kind::Zstd) => Box::new(ZstdDecoder::new(BufReader::with_capacity(BUFFER, Box::new(source)))),
    })
}

/// Whether a file is compressed. It is read from its beginning afterwards.
pub(crate) fn is_compressed(file: &mut File) -> io::Result<bool> {
    let mut head = Vec::with_capacity(MAGIC_BYTES);
    io::Read::by_ref(file).take(MAGIC_BYTES as u64).read_to_end(&mut head)?;
    file.rewind()?;
    Ok(Kind::of_magic(&head).is_some())
}

/// Whether these are, or may become, the first bytes of an archive.
fn is_prefix(head: &[u8]) -> bool {
    let begins = |magic: &[u8]| magic.starts_with(head) || head.starts_with(magic);
    begins(GZIP) || begins(ZSTD) || is_skippable(head)
}

/// Whether these are the first bytes of a zstd frame without content.
fn is_skippable(head: &[u8]) -> bool {
    let begins = |tail: &[u8]| ZSTD_SKIPPABLE.starts_with(tail) || tail.starts_with(ZSTD_SKIPPABLE);
    head.split_first().is_none_or(|(first, tail)| (0x50..=0x5f).contains(first) && begins(tail))
}

/// How an input is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Gzip,
    Zstd,
}

impl Kind {
    fn of_magic(head: &[u8]) -> Option<Self> {
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

/// The archive ends too early.
pub(super) fn truncated(kind: Kind) -> io::Error {
    let message = format!("the {} archive is truncated; only what could be decoded was checked", kind.name());
    io::Error::new(io::ErrorKind::UnexpectedEof, message)
}

/// The archive cannot be decoded further.
pub(super) fn corrupt(kind: Kind, why: impl std::fmt::Display) -> io::Error {
    let message = format!("the {} archive is corrupt ({why}); only what could be decoded was checked", kind.name());
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// A gzip archive of one or more members.
struct Gzip(MultiGzDecoder<BufReader<Source>>);

impl Read for Gzip {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => truncated(Kind::Gzip),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => corrupt(Kind::Gzip, error),
            _ => error,
        })
    }
}

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// After a byte from 0x50 to 0x5f.
const ZSTD_SKIPPABLE: &[u8] = &[0x2a, 0x4d, 0x18];

/// The most bytes that tell an archive.
const MAGIC_BYTES: usize = 4;

const BUFFER: usize = 64 * 1024;
