//! Compressed inputs, recognised by their first bytes and decoded as they are read.
//!
//! Memory does not depend on what an archive expands to: gzip has a window of 32 KiB, and a zstd frame that asks for one of more
//! than 128 MiB is refused.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek as _};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::archive::{GZIP, Kind, MAGIC_BYTES, Source, ZSTD, corrupt, is_skippable, truncated};
use super::zstd::ZstdDecoder;

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
