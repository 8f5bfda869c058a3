//! The machines of the episodes that had a packet lately.
//!
//! All others are packed, so that an episode costs little while it waits. Nothing has to be unpacked as long as no more are at
//! work at a time than there is room for here.

use std::{mem, slice};

use omen_fsm::{Machine, PackedMachine};
use prefetch_index::prefetch_index;

/// An episode whose machine is awake.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) id: Box<str>,
    pub(super) machine: Machine,
    /// Its position among all episodes; none once it has ended.
    pub(super) at: Option<u32>,
    /// It had a packet since the hand passed.
    is_used: bool,
    /// It was too large to be packed.
    is_large: bool,
}

impl Slot {
    pub(super) fn new(id: &str, machine: Machine, at: u32) -> Self {
        Self { id: id.into(), machine, at: Some(at), is_used: true, is_large: false }
    }
}

/// The machines that are awake.
#[derive(Debug)]
pub(super) struct Awake {
    slots: Vec<Slot>,
    /// The slots whose machine may be packed to make room, as the numbers on the face of a clock: the hand packs the first that was
    /// not used since it last passed. What is too large to be packed stays in its slot, and leaves the face.
    face: Vec<u32>,
    hand: usize,
    /// Slots that are not on the face, and whose episode has ended.
    free: Vec<u32>,
    most: usize,
    buffer: Vec<u8>,
}

impl Default for Awake {
    fn default() -> Self {
        Self::with_room(Self::MOST)
    }
}

impl Awake {
    /// How many machines are awake: more than agents that one log is likely to have at work at a time, and few enough to stay
    /// in a processor's caches.
    pub(super) const MOST: usize = 3072;

    /// With room for so many machines that can be packed, at least one.
    pub(super) fn with_room(most: usize) -> Self {
        Self { slots: Vec::new(), face: Vec::new(), hand: 0, free: Vec::new(), most: most.max(1), buffer: Vec::new() }
    }

    #[expect(clippy::indexing_slicing, reason = "slots are never removed")]
    pub(super) fn slot(&self, slot: u32) -> &Slot {
        &self.slots[slot as usize]
    }

    #[expect(clippy::indexing_slicing, reason = "slots are never removed")]
    pub(super) fn slot_mut(&mut self, slot: u32) -> &mut Slot {
        &mut self.slots[slot as usize]
    }

    #[cfg(test)]
    pub(super) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Asks the processor to fetch a slot into its cache.
    #[inline]
    pub(super) fn prefetch(&self, slot: u32) {
        let slot = self.slot(slot);
        prefetch_index(slice::from_ref(&slot.id), 0);
        slot.machine.prefetch();
    }

    /// As [`prefetch`](Self::prefetch), for what a slot leads to.
    #[inline]
    pub(super) fn prefetch_lists(&self, slot: u32) {
        let slot = self.slot(slot);
        prefetch_index(slot.id.as_bytes(), 0);
        slot.machine.prefetch_lists();
    }

    /// The machine in a slot, for a packet.
    pub(super) fn machine(&mut self, slot: u32) -> &mut Machine {
        let slot = self.slot_mut(slot);
        slot.is_used = true;
        &mut slot.machine
    }

    /// Ends an episode. Its slot is used for another.
    pub(super) fn end(&mut self, slot: u32) -> Machine {
        let place = self.slot_mut(slot);
        (place.at, place.is_used, place.id) = (None, false, Box::default());
        let machine = mem::take(&mut place.machine);
        if mem::take(&mut place.is_large) {
            self.free.push(slot);
        }
        machine
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
            let Some(at) = old.at else {
                *old = new;
                return (*place, None);
            };
            if let Some(packed) = old.machine.pack(&old.id, &mut self.buffer) {
                *old = new;
                return (*place, Some((at, packed)));
            }
            old.is_large = true;
            if let Some(free) = self.free.pop() {
                *place = free;
                self.slots[free as usize] = new;
            } else {
                *place = number(&self.slots);
                self.slots.push(new);
            }
            return (*place, None);
        }
    }
}

/// The number of the next slot. There are no more slots than there were episodes at a time, which 32 bits count.
fn number(slots: &[Slot]) -> u32 {
    u32::try_from(slots.len()).unwrap_or(u32::MAX)
}
