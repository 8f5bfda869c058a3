//! Detection of binary inputs: from its first NUL byte on, an input is not a log.

use omen::finding::Finding;
use omen::validator::{JudgedPacket, Sink};

/// Passes on findings up to the first line with a NUL byte, at which the check ends.
pub(super) struct UntilBinary<'s, S>(pub(super) &'s mut S);

/// Reason why the check ended early.
pub(super) enum Stop<E> {
    /// A line has a NUL byte. The finding was passed on.
    Binary,
    /// The sink failed.
    Sink(E),
}

impl<S: Sink> Sink for UntilBinary<'_, S> {
    type Error = Stop<S::Error>;

    fn finding(&mut self, mut finding: Finding, line: Option<&str>) -> Result<(), Self::Error> {
        let is_binary = line.is_some_and(|line| line.contains('\0'));
        if is_binary {
            finding.diagnostic.notes.push("nothing after this line was checked".to_owned());
        }
        self.0.finding(finding, line).map_err(Stop::Sink)?;
        if is_binary { Err(Stop::Binary) } else { Ok(()) }
    }

    fn packet(&mut self, packet: &JudgedPacket<'_>) -> Result<(), Self::Error> {
        self.0.packet(packet).map_err(Stop::Sink)
    }

    fn wants_packets(&self) -> bool {
        self.0.wants_packets()
    }

    fn caught_up(&mut self) -> Result<(), Self::Error> {
        self.0.caught_up().map_err(Stop::Sink)
    }
}
