//! A machine in few bytes: a validator may have millions of episodes that wait for their next packet.

use omen_invariants::Ledger;
use omen_invariants::ledger::Size;

use super::Machine;
use crate::table::{LOOP_NODE, NodeSet};

/// A [`Machine`] in one small allocation, with the id of its episode.
///
/// The ids that must not be repeated (D21) take 16 bytes each, and the rest of an episode without open directives about 60.
/// The machine that [`unpack`](Self::unpack) returns judges every packet as the one that was packed. Only evidence of verification
/// loops that are over is left out, which no packet can cite (D22).
#[derive(Clone, Debug)]
pub struct PackedMachine(Box<[u8]>);

impl Machine {
    /// Packs the machine; none if it takes more than four kilobytes, or has so many ids or directives that to pack it and unpack
    /// it again would take longer than to judge a packet. `buffer` is where it is written first: any buffer, which the next
    /// call may use again.
    #[must_use]
    pub fn pack(&self, correlation_id: &str, buffer: &mut Vec<u8>) -> Option<PackedMachine> {
        let length = u16::try_from(correlation_id.len()).ok()?;
        buffer.clear();
        buffer.extend_from_slice(&length.to_le_bytes());
        buffer.extend_from_slice(&self.nodes.bits().to_le_bytes());
        buffer.push(u8::from(!self.ledger.open().is_empty()));
        buffer.extend_from_slice(correlation_id.as_bytes());
        let is_packed = self.ledger.pack(self.nodes.contains(LOOP_NODE), Size::Small, buffer) && buffer.len() <= MOST;
        is_packed.then(|| PackedMachine(buffer.as_slice().into()))
    }
}

/// For snapshots.
impl Machine {
    /// Writes the machine to the end of a buffer, however large it is: the same machine in the same bytes everywhere.
    pub fn write(&self, buffer: &mut Vec<u8>) {
        buffer.extend_from_slice(&self.nodes.bits().to_le_bytes());
        // All sizes are packed.
        let _ = self.ledger.pack(self.nodes.contains(LOOP_NODE), Size::Any, buffer);
    }

    /// The machine that [`write`](Self::write) wrote. Of other bytes it makes some machine.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Self {
        let (nodes, ledger) = bytes.split_first_chunk().unwrap_or((&[0; 2], &[]));
        Self { nodes: NodeSet::of_bits(u16::from_le_bytes(*nodes)), ledger: Ledger::unpack(ledger) }
    }
}

impl PackedMachine {
    /// The id of the episode.
    #[must_use]
    pub fn correlation_id(&self) -> &str {
        std::str::from_utf8(self.parts().correlation_id).unwrap_or_default()
    }

    /// Whether it is of the episode with an id.
    #[must_use]
    pub fn is_of(&self, correlation_id: &str) -> bool {
        self.parts().correlation_id == correlation_id.as_bytes()
    }

    /// Where the episode may be.
    #[must_use]
    pub fn nodes(&self) -> NodeSet {
        self.parts().nodes
    }

    /// Whether a directive has no result yet: [`Machine::tick`] finds nothing otherwise.
    #[must_use]
    pub fn has_open(&self) -> bool {
        self.parts().has_open
    }

    /// The machine.
    #[must_use]
    pub fn unpack(&self) -> Machine {
        let Parts { nodes, ledger, .. } = self.parts();
        Machine { nodes, ledger: Ledger::unpack(ledger) }
    }

    fn parts(&self) -> Parts<'_> {
        // INVARIANT: `pack` wrote the bytes, so none of them is missing.
        let (first, rest) = self.0.split_first_chunk().unwrap_or((&[0; 5], &[]));
        let [length, length_high, nodes, nodes_high, open] = *first;
        let length = usize::from(u16::from_le_bytes([length, length_high]));
        let (correlation_id, ledger) = rest.split_at_checked(length).unwrap_or_default();
        let nodes = NodeSet::of_bits(u16::from_le_bytes([nodes, nodes_high]));
        Parts { nodes, has_open: open != 0, correlation_id, ledger }
    }
}

/// What stands in the bytes.
struct Parts<'p> {
    nodes: NodeSet,
    has_open: bool,
    correlation_id: &'p [u8],
    ledger: &'p [u8],
}

/// The most bytes that a packed machine takes.
const MOST: usize = 4096;
