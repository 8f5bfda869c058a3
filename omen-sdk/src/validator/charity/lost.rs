//! Lines that name no episode: each may have been a packet of any.

use std::collections::HashMap;
use std::hash::BuildHasher as _;

use foldhash::fast::FixedState;
use omen_types::PacketType;

use crate::finding::Cause;

/// A line that names no episode.
#[derive(Clone, Copy, Debug)]
pub(in crate::validator) struct LostLine {
    pub(in crate::validator) line: u64,
    /// Its type, if that is readable.
    pub(in crate::validator) packet_type: Option<PacketType>,
}

/// The latest of these lines, and when the episodes had their last packet since the first of them.
///
/// What is more than [`WINDOW`] lines old has no effect, so memory is bounded.
#[derive(Debug, Default)]
pub(super) struct LostLines {
    /// From the first to the latest.
    lines: Vec<LostLine>,
    /// The line of the last packet, by the hash of an episode's id. Episodes that share a hash only share the line.
    last: HashMap<u64, u64, FixedState>,
    /// With so many entries, the old ones are removed.
    crowded: usize,
}

impl LostLines {
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Takes notice of a line, if it is later than those before.
    pub(super) fn add(&mut self, line: LostLine) {
        if self.lines.last().is_some_and(|last| last.line >= line.line) {
            return;
        }
        if self.lines.len() == MOST {
            self.lines.remove(0);
        }
        self.lines.push(line);
    }

    /// The latest line, unless it is long before the end of the stream.
    pub(super) fn latest(&self, end: u64) -> Option<Cause> {
        self.lines.last().filter(|lost| lost.line + WINDOW >= end).map(|lost| cause(lost.line))
    }

    /// Takes notice of a packet of an episode.
    pub(super) fn packet(&mut self, line: u64, id: &str) {
        if self.lines.is_empty() {
            return;
        }
        if self.lines.last().is_some_and(|lost| lost.line + WINDOW < line) {
            *self = Self::default();
            return;
        }
        self.last.insert(hash(id), line);
        if self.last.len() > self.crowded {
            self.last.retain(|_, last| *last + WINDOW >= line);
            self.crowded = (2 * self.last.len()).max(MOST);
        }
    }

    /// The latest line that may explain a packet of an episode, its type if that is readable, and whether the episode had no other
    /// packet since. `after` is the line that has explained one of its packets already: a line is one packet.
    pub(super) fn before(&self, line: u64, id: &str, after: u64) -> Option<(Cause, Option<PacketType>, bool)> {
        let is_near = |lost: &&LostLine| lost.line > after && lost.line < line && lost.line + WINDOW >= line;
        let lost = *self.lines.last().filter(is_near)?;
        let is_next = self.last.get(&hash(id)).is_none_or(|last| *last < lost.line);
        Some((cause(lost.line), lost.packet_type, is_next))
    }
}

fn hash(id: &str) -> u64 {
    FixedState::default().hash_one(id)
}

fn cause(line: u64) -> Cause {
    Cause { line, packet_id: None }
}

/// The most lines that are remembered.
const MOST: usize = 64;

/// How many lines later a packet may still follow from one of them.
const WINDOW: u64 = 10_000;
