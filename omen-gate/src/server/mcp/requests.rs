//! Open requests, and cancelled ones whose answers may still arrive.

use std::collections::{BTreeSet, HashMap};

/// Requests of one connection, by their increasing ids.
///
/// A cancelled request need not be answered, and most servers do not answer it: if it counted as open until answered,
/// each call that takes too long would occupy a place for good. But some servers do answer, and a late answer must not
/// pass for an unsolicited one. Both sets are bounded.
#[derive(Debug)]
pub(super) struct Requests {
    open: HashMap<i64, RequestOrigin>,
    /// Requests that were cancelled, not answered, and are newer than all forgotten ones.
    abandoned: BTreeSet<i64>,
    /// Newest cancelled request that is no longer remembered. A request that is not open and no newer than this one may
    /// have been cancelled.
    forgotten: Option<i64>,
    limit: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestOrigin {
    /// The SDK's own request, whose answer needs the SDK's types.
    Handshake,
    /// The gate's request, whose answer is kept unchanged.
    Ours,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answers {
    /// A request that was open and is now closed.
    Open(RequestOrigin),
    /// A cancelled request. Nobody waits for its answer.
    Abandoned,
    /// No request.
    Nothing,
}

impl Requests {
    /// Creates an empty set, in which at most `limit` requests are open and equally many cancelled ones are remembered.
    pub(super) fn new(limit: usize) -> Self {
        Self { open: HashMap::new(), abandoned: BTreeSet::new(), forgotten: None, limit }
    }

    /// Returns whether no more requests can be sent until one is answered or cancelled.
    pub(super) fn are_full(&self) -> bool {
        self.open.len() >= self.limit
    }

    pub(super) fn ask(&mut self, id: i64, asked: RequestOrigin) {
        self.open.insert(id, asked);
    }

    /// Marks an open request as abandoned: nobody waits for its answer any more. An answered or unknown request is not marked.
    pub(super) fn abandon(&mut self, id: i64) {
        if self.open.remove(&id).is_none() || self.forgotten >= Some(id) {
            return;
        }
        self.abandoned.insert(id);
        if self.abandoned.len() > self.limit {
            // INVARIANT: all remaining ids are newer than the forgotten one.
            self.forgotten = self.abandoned.pop_first();
        }
    }

    pub(super) fn answer(&mut self, id: i64) -> Answers {
        if let Some(asked) = self.open.remove(&id) {
            return Answers::Open(asked);
        }
        // Ids begin at 0, so a negative id was never used, whatever has been forgotten.
        let late = self.abandoned.remove(&id) || id >= 0 && self.forgotten >= Some(id);
        if late { Answers::Abandoned } else { Answers::Nothing }
    }
}

#[cfg(test)]
mod tests {
    use super::{Answers, RequestOrigin, Requests};

    fn asked(limit: usize, ids: impl IntoIterator<Item = i64>) -> Requests {
        let mut requests = Requests::new(limit);
        for id in ids {
            requests.ask(id, RequestOrigin::Ours);
        }
        requests
    }

    #[test]
    fn an_answer_is_taken_once() {
        let mut requests = asked(2, [1]);
        requests.ask(0, RequestOrigin::Handshake);
        assert!(requests.are_full());
        assert_eq!(requests.answer(0), Answers::Open(RequestOrigin::Handshake));
        assert!(!requests.are_full());
        assert_eq!(requests.answer(0), Answers::Nothing);
        assert_eq!(requests.answer(2), Answers::Nothing);
        assert_eq!(requests.answer(1), Answers::Open(RequestOrigin::Ours));
    }

    #[test]
    fn what_is_abandoned_takes_no_place_and_may_be_answered_once() {
        let mut requests = asked(2, [1, 2]);
        requests.abandon(1);
        requests.abandon(1);
        requests.abandon(9);
        assert!(!requests.are_full());
        assert_eq!(requests.answer(1), Answers::Abandoned);
        assert_eq!(requests.answer(1), Answers::Nothing);
        assert_eq!(requests.answer(9), Answers::Nothing, "it was not asked");
        assert_eq!(requests.answer(2), Answers::Open(RequestOrigin::Ours));
        requests.abandon(2);
        assert_eq!(requests.answer(2), Answers::Nothing, "it was answered first");
    }

    #[test]
    fn what_is_remembered_is_bounded_and_what_is_forgotten_may_be_answered() {
        let mut requests = asked(3, [0]);
        for id in 1..100_000 {
            requests.ask(id, RequestOrigin::Ours);
            requests.abandon(id);
            assert!(requests.open.len() == 1 && requests.abandoned.len() <= 3);
        }
        assert_eq!(requests.forgotten, Some(99_996));
        for late in [1, 99_996, 99_997, 99_999] {
            assert_eq!(requests.answer(late), Answers::Abandoned, "{late}");
        }
        for never in [-1, i64::MIN, 99_999, 100_000, i64::MAX] {
            assert_eq!(requests.answer(never), Answers::Nothing, "{never}");
        }
        assert_eq!(requests.answer(0), Answers::Open(RequestOrigin::Ours), "request 0 is still open");
    }

    #[test]
    fn the_oldest_is_forgotten_whatever_the_order() {
        let mut requests = asked(2, 0..6);
        for id in [4, 2, 5, 0] {
            requests.abandon(id);
        }
        assert_eq!((requests.forgotten, requests.abandoned.len()), (Some(2), 2), "0 need not be remembered");
        assert_eq!(requests.answer(0), Answers::Abandoned);
        assert_eq!(requests.answer(1), Answers::Open(RequestOrigin::Ours));
        assert_eq!(requests.answer(3), Answers::Open(RequestOrigin::Ours));
        assert_eq!(requests.answer(3), Answers::Nothing, "newer than what is forgotten");
    }
}
