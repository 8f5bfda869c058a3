//! Unpacked machines of the episodes with recent packets.
//!
//! All other machines are packed, so an idle episode uses little memory. As long as the number of active episodes does
//! not exceed the limit, no machine has to be unpacked.

use std::{mem, slice};

use omen_fsm::{Machine, PackedMachine};
use prefetch_index::prefetch_index;

/// Episode with an unpacked machine.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) id: Box<str>,
    pub(super) machine: Machine,
    /// Index among all episodes; `None` once the episode has ended.
    pub(super) at: Option<u32>,
    /// Whether the episode had a packet since the clock hand last passed.
    is_used: bool,
    /// Whether the machine was too large to be packed.
    is_large: bool,
}

impl Slot {
    pub(super) fn new(id: &str, machine: Machine, at: u32) -> Self {
        Self { id: id.into(), machine, at: Some(at), is_used: true, is_large: false }
    }
}

/// Unpacked machines, managed with CLOCK replacement.
#[derive(Debug)]
pub(super) struct UnpackedEpisodes {
    slots: Vec<Slot>,
    /// Slots whose machine may be packed, in the order of a clock face: the hand packs the first machine that was not used since
    /// the hand last passed. A machine that is too large to be packed stays in its slot, which is removed from the face.
    face: Vec<u32>,
    hand: usize,
    /// Slots off the face whose episodes have ended.
    free: Vec<u32>,
    most: usize,
    buffer: Vec<u8>,
}

impl Default for UnpackedEpisodes {
    fn default() -> Self {
        Self::with_room(Self::MOST)
    }
}

impl UnpackedEpisodes {
    /// Maximum number of unpacked machines: more than the number of active agents in most logs, and few enough to stay
    /// in a processor's caches.
    pub(super) const MOST: usize = 3072;

    /// Creates an instance for the given number of packable machines, at least one.
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

    /// Prefetches a slot into the processor's cache.
    #[inline]
    pub(super) fn prefetch(&self, slot: u32) {
        let slot = self.slot(slot);
        prefetch_index(slice::from_ref(&slot.id), 0);
        slot.machine.prefetch();
    }

    #[inline]
    pub(super) fn prefetch_lists(&self, slot: u32) {
        let slot = self.slot(slot);
        prefetch_index(slot.id.as_bytes(), 0);
        slot.machine.prefetch_lists();
    }

    /// Returns the machine in a slot, for judging a packet.
    pub(super) fn machine(&mut self, slot: u32) -> &mut Machine {
        let slot = self.slot_mut(slot);
        slot.is_used = true;
        &mut slot.machine
    }

    /// Ends an episode and frees its slot.
    pub(super) fn end(&mut self, slot: u32) -> Machine {
        let place = self.slot_mut(slot);
        (place.at, place.is_used, place.id) = (None, false, Box::default());
        let machine = mem::take(&mut place.machine);
        if mem::take(&mut place.is_large) {
            self.free.push(slot);
        }
        machine
    }

    /// Adds an episode. Returns its slot and, if a machine was packed to free space, that machine with its index.
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

/// Returns the number of the next slot. Slots never outnumber simultaneous episodes, whose number fits into 32 bits.
fn number(slots: &[Slot]) -> u32 {
    u32::try_from(slots.len()).unwrap_or(u32::MAX)
}
