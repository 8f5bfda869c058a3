//! Decoding of compressed inputs, which are recognized by their first bytes and decoded while being read.
//!
//! Memory does not depend on the decompressed size: gzip has a window of 32 KiB, and a zstd frame with a window of more
//! than 128 MiB is refused.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek as _};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::archive::{GZIP, Kind, MAGIC_BYTES, Source, ZSTD, corrupt, is_skippable, truncated};
use super::layout::MARK;
use super::zstd::ZstdDecoder;

/// Decodes a source if it is compressed, and skips the byte order mark that Windows tools write at the beginning of a
/// file. If the file has an archive's name but ends before its first bytes are complete, it is a truncated archive.
///
/// # Errors
/// If the source cannot be read, or is a truncated archive.
pub fn decoded(source: Source, path: &Path) -> io::Result<Source> {
    // One byte is enough to distinguish most logs from an archive, and a live input may not have more yet.
    let (head, source) = begin(source, MAGIC_BYTES, is_prefix)?;
    let kind = Kind::of_magic(&head);
    let named = Kind::of_name(path).filter(|_| head.len() < MAGIC_BYTES && is_prefix(&head));
    if kind.is_none()
        && let Some(named) = named
    {
        return Err(truncated(named));
    }
    let source = Cursor::new(head).chain(source);
    Ok(match kind {
        None => Box::new(MarkSkipper::Begin(Box::new(source))),
        Some(Kind::Gzip) => {
            let archive = MultiGzDecoder::new(BufReader::with_capacity(BUFFER, Box::new(source) as Source));
            Box::new(MarkSkipper::Begin(Box::new(Gzip(archive))))
        }
        Some(Kind::Zstd) => {
            let archive = ZstdDecoder::new(BufReader::with_capacity(BUFFER, Box::new(source)));
            Box::new(MarkSkipper::Begin(Box::new(archive)))
        }
    })
}

/// Reads up to `most` first bytes of a source, as long as `may_be` accepts them as a prefix.
fn begin(mut source: Source, most: usize, may_be: fn(&[u8]) -> bool) -> io::Result<(Vec<u8>, Source)> {
    let mut head = Vec::with_capacity(most);
    while head.len() < most && may_be(&head) {
        let mut byte = [0];
        match source.read(&mut byte) {
            Ok(0) => break,
            Ok(_) => head.extend_from_slice(&byte),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok((head, source))
}

/// Reader that skips the byte order mark of a source.
enum MarkSkipper {
    Begin(Source),
    Rest(Source),
}

impl Read for MarkSkipper {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        if let Self::Begin(source) = self {
            let source = std::mem::replace(source, Box::new(io::empty()));
            let (mut head, rest) = begin(source, MARK.len(), |head| MARK.starts_with(head))?;
            if head == MARK {
                head.clear();
            }
            *self = Self::Rest(Box::new(Cursor::new(head).chain(rest)));
        }
        match self {
            Self::Begin(source) | Self::Rest(source) => source.read(buffer),
        }
    }
}

/// Returns whether a file is compressed, and rewinds the file to its beginning.
///
/// # Errors
/// If the file cannot be read.
pub fn is_compressed(file: &mut File) -> io::Result<bool> {
    let mut head = Vec::with_capacity(MAGIC_BYTES);
    io::Read::by_ref(file).take(MAGIC_BYTES as u64).read_to_end(&mut head)?;
    file.rewind()?;
    Ok(Kind::of_magic(&head).is_some())
}

/// Returns whether these are the first bytes of an archive, or a prefix of them.
fn is_prefix(head: &[u8]) -> bool {
    let begins = |magic: &[u8]| magic.starts_with(head) || head.starts_with(magic);
    begins(GZIP) || begins(ZSTD) || is_skippable(head)
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

const BUFFER: usize = 64 * 1024;
