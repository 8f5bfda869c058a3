//! Blocks: parts of a log that are parsed independently of one another.

use foldhash::fast::RandomState;
use std::hash::BuildHasher;

use super::super::line::{self, ParsedLine};
use super::super::root_cause::{ClaimedIdentity, LostLine, claimed};
use crate::lines::RawLine;

/// Whole lines of a log, which one thread parses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block<'t> {
    /// Sort key of the block in the stream: `at` plus the index of any of its lines is less than the key of the next block.
    pub(super) at: u64,
    lines: BlockLines<'t>,
}

#[derive(Clone, Copy, Debug)]
enum BlockLines<'t> {
    /// Lines with their line ends.
    Whole(&'t [u8]),
    /// A line that arrived in several chunks.
    One(RawLine<'t>),
}

impl<'t> Block<'t> {
    /// Creates a block with a single line. `at` is the position in the stream at which the line ends.
    pub(super) fn one(at: u64, line: RawLine<'t>) -> Self {
        Self { at, lines: BlockLines::One(line) }
    }

    /// Splits whole lines, with their line ends, into blocks. `at` is the position in the stream at which they begin. A
    /// block never has more lines than bytes, so positions are valid sort keys.
    pub(super) fn cut(mut at: u64, mut bytes: &'t [u8], limit: usize, blocks: &mut Vec<Self>) {
        while !bytes.is_empty() {
            // The last block may be longer by half, because a short block would cost as much as a long one.
            let is_last = bytes.len() / 3 < limit / 2;
            let from = limit.saturating_sub(1);
            let end = bytes.get(from..).filter(|_| !is_last).and_then(|rest| memchr::memchr(b'\n', rest));
            let (block, rest) = bytes.split_at(end.map_or(bytes.len(), |end| from + end + 1));
            blocks.push(Self { at, lines: BlockLines::Whole(block) });
            at += block.len() as u64;
            bytes = rest;
        }
    }
}

/// Unparsed lines of a block.
enum Unread<'t> {
    Whole(line::Lines<'t>),
    One(Option<RawLine<'t>>),
}

impl<'t> Unread<'t> {
    fn new(lines: BlockLines<'t>, limit: usize) -> Self {
        match lines {
            BlockLines::Whole(bytes) => Self::Whole(line::Lines::new(bytes, limit)),
            BlockLines::One(line) => Self::One(Some(line)),
        }
    }

    #[inline]
    fn next(&mut self) -> Option<RawLine<'t>> {
        match self {
            Self::Whole(lines) => lines.next(),
            Self::One(line) => line.take(),
        }
    }

    /// Returns the unparsed lines; `None` if there are none.
    fn rest(self) -> Option<BlockLines<'t>> {
        match self {
            Self::Whole(lines) => Some(lines.rest()).filter(|rest| !rest.is_empty()).map(BlockLines::Whole),
            Self::One(line) => line.map(BlockLines::One),
        }
    }
}

/// Parsed line with its position in the block.
#[derive(Debug, Default)]
pub(super) struct Item<'t> {
    /// Line number, starting at 0 and including blank lines.
    pub(super) line: u64,
    /// Packet number, starting at 0 and not counting blank lines.
    pub(super) packet: u64,
    pub(super) parsed: ParsedLine<'t>,
}

/// Parsed lines of a block, and for each shard the indices of its lines. The memory is reused for another block:
/// parsing into existing memory is cheaper than moving parsed lines.
#[derive(Debug, Default)]
pub(super) struct Items<'t> {
    all: Vec<Item<'t>>,
    by_shard: Vec<Vec<u32>>,
}

impl<'t> Items<'t> {
    pub(super) fn of_shard(&self, shard: usize) -> impl ExactSizeIterator<Item = &Item<'t>> {
        let places = self.by_shard.get(shard).map(Vec::as_slice).unwrap_or_default();
        #[expect(clippy::indexing_slicing, reason = "they are places in this vector")]
        places.iter().map(|place| &self.all[*place as usize])
    }
}

/// Parsed block, or the first part of a block with many findings.
#[derive(Debug)]
pub(super) struct ParsedBlock<'t> {
    pub(super) at: u64,
    pub(super) items: Items<'t>,
    /// Number of lines.
    pub(super) lines: u64,
    /// Number of lines that are not blank.
    pub(super) packets: u64,
    /// Number of errors in broken lines.
    pub(super) errors: usize,
    /// Lines that may be packets of any episode, numbered from 0.
    pub(super) lost: Vec<LostLine>,
    /// Part of the block that has not been parsed yet.
    pub(super) rest: Option<Block<'t>>,
}

impl<'t> ParsedBlock<'t> {
    /// Parses a block for a number of shards, reusing the memory of another block.
    pub(super) fn new(
        block: Block<'t>,
        limit: usize,
        mut items: Items<'t>,
        shards: usize,
        hasher: &RandomState,
    ) -> Self {
        let Items { all, by_shard } = &mut items;
        by_shard.resize_with(shards, Vec::new);
        by_shard.iter_mut().for_each(Vec::clear);
        let (mut lines, mut packets, mut errors, mut lost) = (0, 0, 0, Vec::new());
        let mut unread = Unread::new(block.lines, limit);
        while packets < MAX_PACKETS
            && errors < MAX_ERRORS
            && let Some(line) = unread.next()
        {
            let number = lines;
            lines += 1;
            let place = usize::try_from(packets).unwrap_or(usize::MAX);
            if place == all.len() {
                all.push(Item::default());
            }
            let Some(item) = all.get_mut(place) else { break };
            if !item.parsed.read(line) {
                continue;
            }
            (item.line, item.packet) = (number, packets);
            let parsed = &item.parsed;
            let shard = match (&parsed.facts, &parsed.rejected) {
                (Some(facts), _) => hasher.hash_one(&*facts.header.correlation_id),
                (None, rejected) => {
                    errors += rejected.as_ref().map_or(0, |rejected| rejected.errors.len());
                    match rejected.as_ref().map(|rejected| claimed(parsed.text.as_deref(), rejected)) {
                        Some(ClaimedIdentity::Episode(id)) => hasher.hash_one(id.as_str()),
                        Some(ClaimedIdentity::Nothing(packet_type)) => {
                            lost.push(LostLine { line: number, packet_type });
                            // A line without an episode may go to any shard.
                            0
                        }
                        None => 0,
                    }
                }
            };
            let shard = shard.checked_rem(shards as u64).and_then(|shard| usize::try_from(shard).ok());
            if let Some(places) = shard.and_then(|shard| by_shard.get_mut(shard))
                && let Ok(place) = u32::try_from(place)
            {
                places.push(place);
            }
            packets += 1;
        }
        let rest = unread.rest().map(|rest| Block { at: block.at + lines, lines: rest });
        Self { at: block.at, items, lines, packets, errors, lost, rest }
    }
}

/// Maximum part of a block that waits to be reported. A real log stays far below both limits, but the finding for a
/// line of two bytes may take hundreds.
const MAX_PACKETS: u64 = 2048;
const MAX_ERRORS: usize = 1024;
