//! Lines that name no episode: each may have been a packet of any episode.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use omen_invariants::ledger::bytes::{Reader, Writer};
use omen_invariants::ledger::{Fingerprint, Kind};
use omen_types::PacketType;

use super::encoding::{read_type, write_type};
use crate::finding::Cause;

/// Line that names no episode.
#[derive(Clone, Copy, Debug)]
pub(in crate::validator) struct LostLine {
    pub(in crate::validator) line: u64,
    /// Type of the packet, if readable.
    pub(in crate::validator) packet_type: Option<PacketType>,
}

/// Latest lines that name no episode, and the last packet of each episode since the first such line.
///
/// Lines that are more than [`WINDOW`] lines old have no effect, so memory is bounded.
#[derive(Debug, Default)]
pub(super) struct LostLines {
    /// Lines in stream order.
    lines: Vec<LostLine>,
    /// Line of the last packet of each episode, by the fingerprint of its id.
    last: HashMap<Fingerprint, u64, RandomState>,
    /// Number of entries at which old ones are removed.
    crowded: usize,
}

impl LostLines {
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Writes the state to a snapshot.
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.number(self.lines.len() as u64);
        for LostLine { line, packet_type } in &self.lines {
            writer.number(*line);
            write_type(*packet_type, writer);
        }
        let mut last: Vec<_> = self.last.iter().collect();
        last.sort_unstable();
        writer.number(last.len() as u64);
        for (id, line) in last {
            writer.fingerprint(*id);
            writer.number(*line);
        }
    }

    /// Reads the state from a snapshot.
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let line = |reader: &mut Reader<'_>| LostLine { line: reader.number(), packet_type: read_type(reader) };
        let lines = (0..reader.count()).map(|_| line(reader)).collect();
        let last = (0..reader.count()).map(|_| (reader.fingerprint(), reader.number())).collect();
        Self { lines, last, crowded: 0 }
    }

    /// Records a line if it is later than the recorded ones.
    pub(super) fn add(&mut self, line: LostLine) {
        if self.lines.last().is_some_and(|last| last.line >= line.line) {
            return;
        }
        if self.lines.len() == MOST {
            self.lines.remove(0);
        }
        self.lines.push(line);
    }

    /// Returns the latest line, unless it is far from the end of the stream.
    pub(super) fn latest(&self, end: u64) -> Option<Cause> {
        self.lines.last().filter(|lost| lost.line + WINDOW >= end).map(|lost| cause(lost.line))
    }

    /// Records a packet of an episode.
    pub(super) fn packet(&mut self, line: u64, id: &str) {
        if self.lines.is_empty() {
            return;
        }
        if self.lines.last().is_some_and(|lost| lost.line + WINDOW < line) {
            *self = Self::default();
            return;
        }
        self.last.insert(fingerprint(id), line);
        if self.last.len() > self.crowded {
            self.last.retain(|_, last| *last + WINDOW >= line);
            self.crowded = (2 * self.last.len()).max(MOST);
        }
    }

    /// Returns the latest line that may explain a packet of an episode, its type if readable, and whether the episode
    /// had no other packet since. `after` is the line that has explained an earlier packet of the episode; each line
    /// can explain only one packet.
    pub(super) fn before(&self, line: u64, id: &str, after: u64) -> Option<(Cause, Option<PacketType>, bool)> {
        let is_near = |lost: &&LostLine| lost.line > after && lost.line < line && lost.line + WINDOW >= line;
        let lost = *self.lines.last().filter(is_near)?;
        let is_next = self.last.get(&fingerprint(id)).is_none_or(|last| *last < lost.line);
        Some((cause(lost.line), lost.packet_type, is_next))
    }
}

fn fingerprint(id: &str) -> Fingerprint {
    Fingerprint::new(Kind::Packet, id)
}

fn cause(line: u64) -> Cause {
    Cause { line, packet_id: None }
}

/// Maximum number of recorded lines.
const MOST: usize = 64;

/// Maximum distance in lines between such a line and a packet that follows from it.
const WINDOW: u64 = 10_000;
