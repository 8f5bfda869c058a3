//! Room for the data that is read at once.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Room for a number of bytes.
#[derive(Clone, Debug)]
pub(super) struct Room(Arc<Semaphore>);

/// Room taken by one body or stream.
#[derive(Debug)]
pub(super) struct Reservation {
    room: Room,
    permit: Option<OwnedSemaphorePermit>,
}

const UNIT: usize = 1024;

impl Room {
    pub(super) fn new(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes.div_ceil(UNIT).clamp(1, Semaphore::MAX_PERMITS))))
    }

    pub(super) fn hold(&self) -> Reservation {
        Reservation { room: self.clone(), permit: None }
    }
}

impl Reservation {
    /// Takes room for this many bytes in total. Returns whether there is enough: nobody waits for room, because holders of
    /// some could wait for each other.
    pub(super) fn grow(&mut self, bytes: usize) -> bool {
        let has = self.permit.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let Ok(more) = u32::try_from(bytes.div_ceil(UNIT).saturating_sub(has)) else { return false };
        if more == 0 {
            return true;
        }
        let Ok(permit) = Arc::clone(&self.room.0).try_acquire_many_owned(more) else { return false };
        match &mut self.permit {
            Some(own) => own.merge(permit),
            own => *own = Some(permit),
        }
        true
    }

    /// Releases the room taken.
    pub(super) fn clear(&mut self) {
        self.permit = None;
    }
}

#[cfg(test)]
mod tests {
    use super::Room;

    #[test]
    fn all_answers_together_take_no_more_than_there_is() {
        let room = Room::new(100 << 10);
        let (mut one, mut two) = (room.hold(), room.hold());
        assert!(one.grow(60 << 10) && one.grow(60 << 10), "in all, not in addition");
        assert!(!two.grow(60 << 10) && two.grow(40 << 10));
        one.clear();
        assert!(two.grow(100 << 10));
        drop(two);
        assert!(one.grow(100 << 10));
    }
}
