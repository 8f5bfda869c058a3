//! The machines of the episodes that had a packet lately.
//!
//! All others are packed. How many are awake is a bound and not a choice, so that an episode costs little once it waits, and
//! nothing has to be packed or unpacked as long as few are at work at a time.

use std::mem;

use omen_fsm::{Machine, PackedMachine};

/// An episode whose machine is awake.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) id: Box<str>,
    pub(super) machine: Machine,
    /// Its position among all episodes.
    pub(super) at: u32,
    /// It had a packet since the hand passed.
    pub(super) is_used: bool,
}

/// The machines that are awake.
#[derive(Debug)]
pub(super) struct Awake {
    slots: Vec<Slot>,
    /// The slots whose machine may be packed to make room, as the numbers on the face of a clock: the hand packs the first that was
    /// not used since it last passed. What is too large to be packed stays in its slot, and leaves the face.
    face: Vec<u32>,
    hand: usize,
    most: usize,
    buffer: Vec<u8>,
}

impl Default for Awake {
    fn default() -> Self {
        Self::with_room(MOST)
    }
}

impl Awake {
    /// With room for so many machines that can be packed, at least one.
    pub(super) fn with_room(most: usize) -> Self {
        Self { slots: Vec::new(), face: Vec::new(), hand: 0, most: most.max(1), buffer: Vec::new() }
    }

    #[expect(clippy::indexing_slicing, reason = "slots are never removed")]
    pub(super) fn slot(&self, slot: u32) -> &Slot {
        &self.slots[slot as usize]
    }

    #[expect(clippy::indexing_slicing, reason = "slots are never removed")]
    pub(super) fn slot_mut(&mut self, slot: u32) -> &mut Slot {
        &mut self.slots[slot as usize]
    }

    /// Adds an episode. Returns its slot, and the one that was packed to make room, with its position among all.
    #[expect(clippy::indexing_slicing, reason = "the hand is on the face, whose numbers are slots")]
    pub(super) fn add(&mut self, new: Slot) -> (u32, Option<(u32, PackedMachine)>) {
        if self.face.len() < self.most {
            let slot = number(&self.slots);
            self.face.push(slot);
            self.slots.push(new);
            return (slot, None);
        }
        loop {
            self.hand = if self.hand + 1 < self.face.len() { self.hand + 1 } else { 0 };
            let place = &mut self.face[self.hand];
            let old = &mut self.slots[*place as usize];
            if mem::take(&mut old.is_used) {
                continue;
            }
            let Some(packed) = old.machine.pack(&old.id, &mut self.buffer) else {
                *place = number(&self.slots);
                self.slots.push(new);
                return (*place, None);
            };
            return (*place, Some((mem::replace(old, new).at, packed)));
        }
    }
}

/// The number of the next slot. There are no more slots than episodes, which are counted by 32 bits.
fn number(slots: &[Slot]) -> u32 {
    u32::try_from(slots.len()).unwrap_or(u32::MAX)
}

/// How many machines are awake: more than agents that one log is likely to have at work at a time, and few enough to stay in a
/// processor's caches.
const MOST: usize = 4096;
