//! Blocks: the parts of a log that are parsed independently of each other.

use foldhash::fast::RandomState;
use std::hash::BuildHasher;

use super::super::charity::{Claimed, LostLine, claimed};
use super::super::line::Parsed;
use crate::lines::{RawLine, whole};

/// Whole lines of a log. One thread parses them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block<'t> {
    /// Its place among the blocks of the stream: the numbers of its lines, counted from here, are below that of the next block.
    pub(super) at: u64,
    lines: Lines<'t>,
}

#[derive(Clone, Copy, Debug)]
enum Lines<'t> {
    /// With their line ends.
    Whole(&'t [u8]),
    /// A line that came in pieces.
    One(RawLine<'t>),
}

impl<'t> Block<'t> {
    /// A block of one line. `at` is the position in the stream where it ends.
    pub(super) fn one(at: u64, line: RawLine<'t>) -> Self {
        Self { at, lines: Lines::One(line) }
    }

    /// Cuts whole lines, with their line ends, into blocks. `at` is the position in the stream where they begin: no block has
    /// more lines than bytes, so positions are places.
    pub(super) fn cut(mut at: u64, mut bytes: &'t [u8], limit: usize, blocks: &mut Vec<Self>) {
        while !bytes.is_empty() {
            // The last block may be longer by half: a short one would be as much trouble as a long one.
            let is_last = bytes.len() / 3 < limit / 2;
            let from = limit.saturating_sub(1);
            let end = bytes.get(from..).filter(|_| !is_last).and_then(|rest| memchr::memchr(b'\n', rest));
            let (block, rest) = bytes.split_at(end.map_or(bytes.len(), |end| from + end + 1));
            blocks.push(Self { at, lines: Lines::Whole(block) });
            at += block.len() as u64;
            bytes = rest;
        }
    }

    fn next_line(&mut self, limit: usize) -> Option<RawLine<'t>> {
        match self.lines {
            Lines::Whole([]) => None,
            Lines::Whole(bytes) => {
                let end = memchr::memchr(b'\n', bytes).unwrap_or(bytes.len());
                let (line, rest) = bytes.split_at(end);
                self.lines = Lines::Whole(rest.get(1..).unwrap_or_default());
                Some(whole(line, limit))
            }
            Lines::One(line) => {
                self.lines = Lines::Whole(&[]);
                Some(line)
            }
        }
    }

    fn is_empty(&self) -> bool {
        matches!(self.lines, Lines::Whole([]))
    }
}

/// A line that was parsed, and its place in the block.
#[derive(Debug)]
pub(super) struct Item<'t> {
    /// From 0, with blank lines.
    pub(super) line: u64,
    /// From 0, without blank lines.
    pub(super) packet: u64,
    pub(super) parsed: Parsed<'t>,
}

/// A block that was parsed, or the first part of one with much to report.
#[derive(Debug)]
pub(super) struct ParsedBlock<'t> {
    pub(super) at: u64,
    /// The items of each shard.
    pub(super) items: Vec<Vec<Item<'t>>>,
    /// Number of lines.
    pub(super) lines: u64,
    /// Number of lines that are not blank.
    pub(super) packets: u64,
    /// Number of errors in broken lines.
    pub(super) errors: usize,
    /// The lines that may be packets of any episode, from 0.
    pub(super) lost: Vec<LostLine>,
    /// What is still to be parsed.
    pub(super) rest: Option<Block<'t>>,
}

impl<'t> ParsedBlock<'t> {
    /// Parses a block. `items` has an empty vector for each shard.
    pub(super) fn new(mut block: Block<'t>, limit: usize, mut items: Vec<Vec<Item<'t>>>, hasher: &RandomState) -> Self {
        let (at, mut lines, mut packets, mut errors, mut lost) = (block.at, 0, 0, 0, Vec::new());
        while packets < MAX_PACKETS
            && errors < MAX_ERRORS
            && let Some(line) = block.next_line(limit)
        {
            lines += 1;
            let Some(parsed) = Parsed::new(line) else { continue };
            let shard = match (&parsed.facts, &parsed.rejected) {
                (Some(facts), _) => hasher.hash_one(&*facts.header.correlation_id),
                (None, rejected) => {
                    errors += rejected.as_ref().map_or(0, |rejected| rejected.errors.len());
                    match rejected.as_ref().map(|rejected| claimed(parsed.text.as_deref(), rejected)) {
                        Some(Claimed::Episode(id)) => hasher.hash_one(id.as_str()),
                        Some(Claimed::Nothing(packet_type)) => {
                            lost.push(LostLine { line: lines - 1, packet_type });
                            // It may go anywhere.
                            0
                        }
                        None => 0,
                    }
                }
            };
            let shard = shard.checked_rem(items.len() as u64).and_then(|shard| usize::try_from(shard).ok());
            if let Some(items) = shard.and_then(|shard| items.get_mut(shard)) {
                items.push(Item { line: lines - 1, packet: packets, parsed });
            }
            packets += 1;
        }
        block.at += lines;
        let rest = (!block.is_empty()).then_some(block);
        Self { at, items, lines, packets, errors, lost, rest }
    }
}

/// How much of a block may wait to be reported. A real log stays far below both, but a line of two bytes has a finding of hundreds.
const MAX_PACKETS: u64 = 2048;
const MAX_ERRORS: usize = 1024;
