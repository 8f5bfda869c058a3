//! Outcomes: what was judged by several threads, and is reported by one.

use super::super::judged::Judged;
use super::super::sink::Sink;
use super::super::tally::Tally;

/// What is to be reported about a packet, and its place in the block.
#[derive(Debug)]
pub(super) struct Outcome<'t> {
    pub(super) line: u64,
    pub(super) packet: u64,
    pub(super) judged: Judged<'t>,
}

/// What is to be reported about a block.
#[derive(Debug)]
pub(super) struct Report<'t> {
    /// In any order. The packets that have none were accepted.
    pub(super) outcomes: Vec<Outcome<'t>>,
    pub(super) lines: u64,
    pub(super) packets: u64,
}

impl Report<'_> {
    /// Reports the block that follows what was reported so far.
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
