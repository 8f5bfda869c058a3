//! Logs as stored in files: compressed or not, with one packet per line, in an array, or one after another.
//!
//! ```
//! use std::io::Cursor;
//! use std::path::Path;
//!
//! use omen::input::{self, AnyValidator, Layout};
//! use omen::{Finding, ValidatorOptions};
//!
//! let log = omen_schema::example("valid/read-only.jsonl").unwrap_or_default();
//! let array = format!("[\n{}\n]", log.trim_end().replace('\n', ",\n"));
//! let source = input::decoded(Box::new(Cursor::new(array.into_bytes())), Path::new("log.json"))?;
//! let validator = AnyValidator::new(ValidatorOptions::default(), input::available_jobs());
//! let mut findings: Vec<Finding> = Vec::new();
//! let judged = input::judge(source, Layout::Auto, validator, &mut findings);
//! assert!(judged.is_ok_and(|summary| summary.packets > 1 && summary.errors == 0));
//! # std::io::Result::Ok(())
//! ```

mod any_validator;
mod archive;
mod decode;
mod layout;
mod look_ahead;
mod packets;
mod placed;
mod zstd;

use crate::finding::Finding;
use crate::lines::ReadError;
use crate::validator::{JudgedPacket, Sink, Summary, report_foreign};

pub use any_validator::{AnyValidator, available_jobs};
pub use archive::Source;
pub use decode::{decoded, is_compressed};
pub use layout::{LaidOut, Layout, MARK};
pub use look_ahead::judge_whole;
pub use packets::{FilePosition, PacketLines, PacketSplitter};

/// Checks a stream to its end, including what is still open there. After a failure, the counts cover the part before
/// it. A stream that is not a log, or becomes binary, is not checked any further.
///
/// # Errors
/// If the reader or the sink fails. The error holds the counts of what was already checked.
pub fn judge<E>(
    reader: Source,
    layout: Layout,
    mut validator: AnyValidator,
    sink: &mut dyn Sink<Error = E>,
) -> Result<Summary, (ReadError<E>, Summary)> {
    let laid_out = layout.of(reader);
    if laid_out.layout == Layout::Array {
        return placed::read(validator, laid_out.whole(), sink);
    }
    let reported = report_foreign(&laid_out.begin, sink);
    if let Some(summary) = reported.map_err(|error| (ReadError::Sink(error), Summary::default()))? {
        return Ok(summary);
    }
    let mut sink = UntilBinary(sink);
    match validator.read(laid_out.whole(), &mut sink) {
        Ok(()) => {}
        Err(ReadError::Sink(EndOfCheck::Binary)) => return Ok(validator.summary()),
        Err(ReadError::Sink(EndOfCheck::Sink(error))) => return Err((ReadError::Sink(error), validator.summary())),
        Err(ReadError::Input(error)) => return Err((ReadError::Input(error), validator.summary())),
    }
    let so_far = validator.summary();
    match validator.finish(&mut sink) {
        Err(EndOfCheck::Sink(error)) => Err((ReadError::Sink(error), so_far)),
        Err(EndOfCheck::Binary) => Ok(so_far),
        Ok(summary) => Ok(summary),
    }
}

/// Sink that passes on findings up to the first line with a NUL byte, where the check ends.
struct UntilBinary<'s, E>(&'s mut dyn Sink<Error = E>);

/// Reason why the check ended early.
enum EndOfCheck<E> {
    /// A line contains a NUL byte. The finding was passed on.
    Binary,
    /// The sink failed.
    Sink(E),
}

impl<E> Sink for UntilBinary<'_, E> {
    type Error = EndOfCheck<E>;

    fn finding(&mut self, mut finding: Finding, line: Option<&str>) -> Result<(), Self::Error> {
        let is_binary = line.is_some_and(|line| line.contains('\0'));
        if is_binary {
            finding.diagnostic.notes.push("nothing after this line was checked".to_owned());
        }
        self.0.finding(finding, line).map_err(EndOfCheck::Sink)?;
        if is_binary { Err(EndOfCheck::Binary) } else { Ok(()) }
    }

    fn packet(&mut self, packet: &JudgedPacket<'_>) -> Result<(), Self::Error> {
        self.0.packet(packet).map_err(EndOfCheck::Sink)
    }

    fn wants_packets(&self) -> bool {
        self.0.wants_packets()
    }

    fn caught_up(&mut self) -> Result<(), Self::Error> {
        self.0.caught_up().map_err(EndOfCheck::Sink)
    }
}
