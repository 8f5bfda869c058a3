//! Decoder for a zstd archive of one or more frames, which works block by block.

use std::io::{self, BufRead as _, BufReader, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::archive::{Kind, Source, corrupt, truncated};

/// Reads the content of all frames in an archive. Skippable frames have no content.
pub(super) struct ZstdDecoder {
    source: BufReader<Source>,
    frame: Box<FrameDecoder>,
    /// Whether the content of the current frame was not completely read.
    is_inside: bool,
    /// Error for a truncated archive, to be returned after all decoded bytes.
    truncated: Option<io::Error>,
}

impl ZstdDecoder {
    pub(super) fn new(source: BufReader<Source>) -> Self {
        Self { source, frame: Box::new(FrameDecoder::new()), is_inside: false, truncated: None }
    }

    /// Begins the next frame with content, and returns whether there is one.
    fn next_frame(&mut self) -> io::Result<bool> {
        loop {
            if self.fill()? {
                return Ok(false);
            }
            match self.frame.reset(&mut self.source) {
                Ok(()) => {
                    self.is_inside = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    let length = u64::from(length);
                    if io::copy(&mut (&mut self.source).take(length), &mut io::sink())? < length {
                        return Err(truncated(Kind::Zstd));
                    }
                }
                Err(error) => return Err(self.failed(error)),
            }
        }
    }

    /// Fills the buffer, and returns whether the archive ends here.
    fn fill(&mut self) -> io::Result<bool> {
        loop {
            match self.source.fill_buf() {
                Ok(bytes) => return Ok(bytes.is_empty()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the error for an archive that cannot be decoded: truncated if no bytes are left, otherwise corrupt.
    fn failed(&mut self, error: impl std::fmt::Display) -> io::Error {
        match self.fill() {
            Ok(true) => truncated(Kind::Zstd),
            Ok(false) => corrupt(Kind::Zstd, error),
            Err(error) => error,
        }
    }

    /// Ends the frame in which the archive is truncated, so that the decoder returns the window that it keeps for later
    /// blocks, which may be everything that was decoded.
    fn release(&mut self) {
        // Complete blocks are decoded and incomplete ones are not, so this cannot fail.
        let _ = self.frame.decode_blocks(LAST_BLOCK, BlockDecodingStrategy::UptoBlocks(1));
    }

    /// Ends a frame whose content was completely read.
    fn end_frame(&mut self) -> io::Result<()> {
        self.is_inside = false;
        match (self.frame.get_checksum_from_data(), self.frame.get_calculated_checksum()) {
            (Some(stated), Some(found)) if stated != found => Err(corrupt(Kind::Zstd, "wrong checksum")),
            _ => Ok(()),
        }
    }
}

impl Read for ZstdDecoder {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.is_inside && !self.next_frame()? {
                return Ok(0);
            }
            if self.frame.can_collect() > 0 {
                return self.frame.read(buffer);
            }
            if let Some(error) = self.truncated.take() {
                return Err(error);
            }
            if self.frame.is_finished() {
                self.end_frame()?;
            } else if let Err(error) = self.frame.decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1))
            {
                let is_end = is_end(&error);
                let error = self.failed(error);
                if !is_end {
                    return Err(error);
                }
                self.release();
                self.truncated = Some(error);
            }
        }
    }
}

/// Returns whether the source ended too early rather than being corrupt.
fn is_end(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    causes.any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::UnexpectedEof)
    })
}

/// Last block without content (RFC 8878, 3.1.1.2), and a checksum, which is read if the header announces one.
const LAST_BLOCK: &[u8] = &[1, 0, 0, 0, 0, 0, 0];
