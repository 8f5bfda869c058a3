//! Printing of findings from the stream, in the form used by `omen check`.

use std::io::{self, Write as _};
use std::path::Path;

use omen::render::json;
use tracing::warn;

use crate::args::TailArgs;
use crate::exit::{Exit, Failure};
use crate::formats::{self, AnyFinding, Report};
use crate::output::{Color, Output};

/// Printer of findings.
pub(super) struct FindingPrinter<'o> {
    report: Box<dyn Report>,
    out: &'o mut Output,
    wants_packets: bool,
    has_errors: bool,
    /// Number of messages that are not findings.
    skipped: u64,
}

impl<'o> FindingPrinter<'o> {
    pub(super) fn new(args: &TailArgs, color: Color, out: &'o mut Output) -> Result<Self, Failure> {
        let format = args.format.unwrap_or(formats::DEFAULT);
        if !formats::FOLLOWED.contains(&format.name) {
            return Err(Failure::Usage(format!(
                "`{}` reports each log at its end, but a stream has no end; use one of `{}`",
                format.name,
                formats::FOLLOWED.join("`, `")
            )));
        }
        *out = if format.is_for_people { Output::for_people(color) } else { Output::for_programs() };
        Ok(Self { report: (format.start)(), out, wants_packets: format.is_for_people, has_errors: false, skipped: 0 })
    }

    pub(super) fn wants_packets(&self) -> bool {
        self.wants_packets
    }

    /// Prints a finding, with the packet it is about if the stream still contains it.
    pub(super) fn print(&mut self, finding: &[u8], packet: Option<&[u8]>) -> io::Result<()> {
        let text = packet.and_then(|packet| std::str::from_utf8(packet).ok());
        // Anyone who may publish to the stream can store something else, which must not hide later findings.
        let (stream, finding) = match json::read(finding, text) {
            Ok(read) => read,
            Err(error) => {
                self.skipped += 1;
                warn!("skipped a message that cannot be read as a finding: {error}");
                return Ok(());
            }
        };
        self.has_errors |= finding.diagnostic.severity == omen::Severity::Error;
        self.report.finding(self.out, Path::new(&stream), AnyFinding::from(&finding), text)?;
        self.out.flush()
    }

    pub(super) fn finish(self) -> Result<Exit, Failure> {
        self.out.flush()?;
        if self.skipped > 0 {
            warn!("messages that cannot be read as findings: {}", self.skipped);
        }
        Ok(match (self.has_errors, self.skipped) {
            (true, _) => Exit::ErrorsFound,
            (false, 0) => Exit::Clean,
            // A skipped message may be an error finding of a later version.
            (false, _) => Exit::Unreadable,
        })
    }
}
