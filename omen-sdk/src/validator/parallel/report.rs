//! Reports on blocks, which several threads judge and one thread passes on.

use super::super::judged::JudgedLine;
use super::super::sink::Sink;
use super::super::tally::Tally;

/// Outcome of judging a packet, with its position in the block.
#[derive(Debug)]
pub(super) struct Outcome<'t> {
    pub(super) line: u64,
    pub(super) packet: u64,
    pub(super) judged: JudgedLine<'t>,
}

/// Outcomes of a block.
#[derive(Debug)]
pub(super) struct Report<'t> {
    /// Outcomes in any order. Packets without an outcome were accepted.
    pub(super) outcomes: Vec<Outcome<'t>>,
    pub(super) lines: u64,
    pub(super) packets: u64,
}

impl Report<'_> {
    /// Reports the next block, which follows everything reported so far.
    pub(super) fn pass_on<S: Sink + ?Sized>(mut self, tally: &mut Tally, sink: &mut S) -> Result<(), S::Error> {
        let (line, packets) = (tally.line, tally.summary.packets);
        self.outcomes.sort_unstable_by_key(|outcome| outcome.line);
        for outcome in self.outcomes {
            tally.clean(packets + outcome.packet - tally.summary.packets);
            tally.line = line + outcome.line + 1;
            tally.packet(outcome.judged, sink)?;
        }
        tally.clean(packets + self.packets - tally.summary.packets);
        tally.line = line + self.lines;
        Ok(())
    }
}
