//! Requests of one side that were passed on as they are, and wait for a response of the other.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use omen_mcp::Id;

/// The open requests of one side, by their ids. A bounded number.
#[derive(Debug)]
pub(crate) struct Relayed {
    state: Mutex<State>,
    limit: usize,
}

#[derive(Debug, Default)]
struct State {
    open: HashMap<Id, Waiting>,
    asked: u64,
    /// A cancelled request was forgotten: what answers nothing may answer it.
    forgetful: bool,
}

#[derive(Debug)]
struct Waiting {
    what: What,
    cancelled: bool,
    number: u64,
}

/// What a request was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// The handshake.
    Initialize,
    Other,
}

/// Why a request cannot be passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unasked {
    /// Another request with this id is open.
    InUse,
    /// Too many are open.
    Full,
}

/// What a response is to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum To {
    Open(What),
    /// One that may have been cancelled, and was forgotten.
    Forgotten,
    Nothing,
}

impl Relayed {
    pub(crate) fn new(limit: usize) -> Self {
        Self { state: Mutex::default(), limit }
    }

    /// A request is about to be passed on. A cancelled one that was never answered makes room.
    pub(crate) fn ask(&self, id: &Id, what: What) -> Result<(), Unasked> {
        let mut state = self.lock();
        if state.open.contains_key(id) {
            return Err(Unasked::InUse);
        }
        if state.open.len() >= self.limit {
            let cancelled = state.open.iter().filter(|(_, waiting)| waiting.cancelled);
            let oldest = cancelled.min_by_key(|(_, waiting)| waiting.number).map(|(id, _)| id.clone());
            state.open.remove(&oldest.ok_or(Unasked::Full)?);
            state.forgetful = true;
        }
        state.asked += 1;
        let number = state.asked;
        state.open.insert(id.clone(), Waiting { what, cancelled: false, number });
        Ok(())
    }

    pub(crate) fn is_open(&self, id: &Id) -> bool {
        self.lock().open.contains_key(id)
    }

    /// Its response need not come any more, and still may.
    pub(crate) fn cancel(&self, id: &Id) {
        if let Some(waiting) = self.lock().open.get_mut(id) {
            waiting.cancelled = true;
        }
    }

    pub(crate) fn answered(&self, id: &Id) -> To {
        let mut state = self.lock();
        match state.open.remove(id) {
            Some(waiting) => To::Open(waiting.what),
            None if state.forgetful => To::Forgotten,
            None => To::Nothing,
        }
    }

    /// Takes all that are open and were not cancelled.
    pub(crate) fn take(&self) -> Vec<Id> {
        let mut open: Vec<_> = self.lock().open.drain().filter(|(_, waiting)| !waiting.cancelled).collect();
        open.sort_by_key(|(_, waiting)| waiting.number);
        open.into_iter().map(|(id, _)| id).collect()
    }

    /// Whether nobody waits for anything.
    pub(crate) fn is_idle(&self) -> bool {
        self.lock().open.values().all(|waiting| waiting.cancelled)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::{Relayed, To, Unasked, What};
    use omen_mcp::Id;

    #[test]
    fn an_id_is_in_use_until_it_is_answered_once() {
        let relayed = Relayed::new(10);
        let id = Id::Number(1);
        assert_eq!(relayed.ask(&id, What::Initialize), Ok(()));
        assert_eq!(relayed.ask(&id, What::Other), Err(Unasked::InUse));
        relayed.cancel(&id);
        assert_eq!(relayed.ask(&id, What::Other), Err(Unasked::InUse), "its answer may still come");
        assert_eq!(relayed.answered(&id), To::Open(What::Initialize));
        assert_eq!(relayed.answered(&id), To::Nothing);
    }

    #[test]
    fn what_is_open_is_bounded_and_only_what_was_cancelled_is_forgotten() {
        let relayed = Relayed::new(2);
        for id in [1, 2] {
            assert_eq!(relayed.ask(&Id::Number(id), What::Other), Ok(()));
        }
        assert_eq!(relayed.ask(&Id::Number(3), What::Other), Err(Unasked::Full));
        relayed.cancel(&Id::Number(2));
        assert_eq!(relayed.ask(&Id::Number(3), What::Other), Ok(()));
        assert_eq!(relayed.answered(&Id::Number(2)), To::Forgotten);
        assert_eq!(relayed.take(), [Id::Number(1), Id::Number(3)]);
        assert!(relayed.is_idle());
    }
}
