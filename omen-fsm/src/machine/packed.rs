//! Compact representation of a machine: a validator may hold millions of episodes that wait for their next packet.

use omen_invariants::Ledger;
use omen_invariants::ledger::Size;

use super::Machine;
use crate::table::{LOOP_NODE, NodeSet};

/// A [`Machine`] in one small allocation, with the id of its episode.
///
/// The ids that must not be repeated (D21) take 16 bytes each, and the rest of an episode without open directives takes
/// about 60. The machine that [`unpack`](Self::unpack) returns judges every packet as the original would. Only the
/// evidence of finished verification loops is omitted, because no packet can cite it (D22).
#[derive(Clone, Debug)]
pub struct PackedMachine(Box<[u8]>);

impl Machine {
    /// Packs the machine; `None` if it takes more than four kilobytes, or has so many ids or directives that packing
    /// and unpacking would take longer than judging a packet. `buffer` is scratch space that the next call may reuse.
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

/// Serialization for snapshots.
impl Machine {
    /// Appends the machine to a buffer, regardless of its size. Equal machines yield equal bytes on every platform.
    pub fn write(&self, buffer: &mut Vec<u8>) {
        buffer.extend_from_slice(&self.nodes.bits().to_le_bytes());
        // `Size::Any` packs every ledger.
        let _ = self.ledger.pack(self.nodes.contains(LOOP_NODE), Size::Any, buffer);
    }

    /// Reads a machine that [`write`](Self::write) wrote. Other bytes yield an arbitrary machine.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Self {
        let (nodes, ledger) = bytes.split_first_chunk().unwrap_or((&[0; 2], &[]));
        Self { nodes: NodeSet::of_bits(u16::from_le_bytes(*nodes)), ledger: Ledger::unpack(ledger) }
    }
}

impl PackedMachine {
    /// Returns the id of the episode.
    #[must_use]
    pub fn correlation_id(&self) -> &str {
        std::str::from_utf8(self.parts().correlation_id).unwrap_or_default()
    }

    /// Returns whether the machine belongs to the episode with this id.
    #[must_use]
    pub fn is_of(&self, correlation_id: &str) -> bool {
        self.parts().correlation_id == correlation_id.as_bytes()
    }

    /// Returns the possible nodes of the episode.
    #[must_use]
    pub fn nodes(&self) -> NodeSet {
        self.parts().nodes
    }

    /// Returns whether any directive has no result yet; otherwise, [`Machine::tick`] has no findings.
    #[must_use]
    pub fn has_open(&self) -> bool {
        self.parts().has_open
    }

    /// Unpacks the machine.
    #[must_use]
    pub fn unpack(&self) -> Machine {
        let Parts { nodes, ledger, .. } = self.parts();
        Machine { nodes, ledger: Ledger::unpack(ledger) }
    }

    fn parts(&self) -> Parts<'_> {
        // INVARIANT: `pack` wrote the bytes, so none are missing.
        let (first, rest) = self.0.split_first_chunk().unwrap_or((&[0; 5], &[]));
        let [length, length_high, nodes, nodes_high, open] = *first;
        let length = usize::from(u16::from_le_bytes([length, length_high]));
        let (correlation_id, ledger) = rest.split_at_checked(length).unwrap_or_default();
        let nodes = NodeSet::of_bits(u16::from_le_bytes([nodes, nodes_high]));
        Parts { nodes, has_open: open != 0, correlation_id, ledger }
    }
}

/// Parts of the packed bytes.
struct Parts<'p> {
    nodes: NodeSet,
    has_open: bool,
    correlation_id: &'p [u8],
    ledger: &'p [u8],
}

/// Maximum size of a packed machine, in bytes.
const MOST: usize = 4096;
