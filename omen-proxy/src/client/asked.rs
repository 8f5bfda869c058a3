//! Open requests that the proxy itself has sent to one side.

use std::collections::HashMap;

use omen_base::Mutex;
use omen_gate::Fault;
use tokio::sync::oneshot;

use omen_mcp::Id;
use omen_mcp::frame::Frame;

/// Open requests by number. No number is used twice, so a late or second answer is never taken for the answer to another request.
#[derive(Debug, Default)]
pub(crate) struct Asked(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    last: u64,
    open: HashMap<u64, oneshot::Sender<Result<Frame, Fault>>>,
}

/// Request that a response answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    /// A request that was open and is now closed.
    Open,
    /// A request for which nobody waits any more: it was cancelled or has already been answered.
    Late,
    /// No request.
    Nothing,
}

impl Asked {
    /// Returns a number unique among requests, for a request that is relayed under it.
    pub(crate) fn number(&self) -> u64 {
        let mut state = self.0.lock();
        state.last += 1;
        state.last
    }

    /// Opens a request. `cancel` is called if the request is dropped after it was sent and before its answer.
    pub(crate) fn open<C: FnMut(u64)>(&self, cancel: C) -> Open<'_, C> {
        let (sender, receiver) = oneshot::channel();
        let mut state = self.0.lock();
        state.last += 1;
        let number = state.last;
        state.open.insert(number, sender);
        Open { asked: self, number, receiver, at: At::Open, cancel }
    }

    pub(crate) fn answered(&self, number: u64, response: Frame) -> Answered {
        self.over(number, Ok(response))
    }

    /// Ends a request that will not be answered.
    pub(crate) fn failed(&self, number: u64, fault: Fault) -> Answered {
        self.over(number, Err(fault))
    }

    fn over(&self, number: u64, answer: Result<Frame, Fault>) -> Answered {
        let mut state = self.0.lock();
        match state.open.remove(&number) {
            Some(sender) => {
                drop(state);
                // The request may have been cancelled at this moment.
                let _ = sender.send(answer);
                Answered::Open
            }
            None if (1..=state.last).contains(&number) => Answered::Late,
            None => Answered::Nothing,
        }
    }
}

/// Open request.
#[derive(Debug)]
pub(crate) struct Open<'a, C: FnMut(u64)> {
    asked: &'a Asked,
    number: u64,
    receiver: oneshot::Receiver<Result<Frame, Fault>>,
    at: At,
    cancel: C,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Open,
    Sent,
    Over,
}

impl<C: FnMut(u64)> Open<'_, C> {
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Marks the request as about to be sent.
    pub(crate) fn is_sent(&mut self) {
        self.at = At::Sent;
    }

    /// Marks the request as over, because nobody is left to notify of a cancellation.
    pub(crate) fn is_over(&mut self) {
        self.at = At::Over;
    }

    /// Returns the answer, or the reason why there is none; `None` if the connection is over.
    pub(crate) async fn answer(&mut self) -> Option<Result<Frame, Fault>> {
        let answer = (&mut self.receiver).await.ok();
        self.at = At::Over;
        answer
    }
}

impl<C: FnMut(u64)> Drop for Open<'_, C> {
    fn drop(&mut self) {
        // An answer that has just arrived needs no cancellation, but a cancellation does no harm.
        let was_open = self.asked.0.lock().open.remove(&self.number).is_some();
        if self.at == At::Sent && was_open {
            (self.cancel)(self.number);
        }
    }
}

/// Returns the notification that nobody is waiting for the answer to a request.
pub(crate) fn cancelled(number: u64) -> String {
    let id = Id::write(number);
    let params = format!("{{\"requestId\":{id},\"reason\":\"nobody is waiting for the answer\"}}");
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{params}}}")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::cell::RefCell;

    use omen_gate::Fault;

    use super::{Answered, Asked};
    use omen_mcp::frame::Frame;

    fn response() -> Frame {
        Frame::read(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_vec()).unwrap()
    }

    #[tokio::test]
    async fn an_answer_is_taken_once() {
        let asked = Asked::default();
        let mut open = asked.open(|_| {});
        assert_eq!(asked.answered(2, response()), Answered::Nothing);
        assert_eq!(asked.answered(0, response()), Answered::Nothing);
        assert_eq!(asked.answered(open.number(), response()), Answered::Open);
        assert_eq!(asked.answered(open.number(), response()), Answered::Late);
        assert!(open.answer().await.unwrap().is_ok());
    }

    #[tokio::test]
    async fn a_request_without_an_answer_fails_once() {
        let asked = Asked::default();
        let mut open = asked.open(|_| {});
        assert_eq!(asked.failed(open.number(), Fault::died("x")), Answered::Open);
        assert_eq!(asked.answered(open.number(), response()), Answered::Late);
        assert_eq!(open.answer().await.unwrap().unwrap_err(), Fault::died("x"));
    }

    #[test]
    fn what_was_sent_and_is_dropped_is_cancelled() {
        let (asked, cancelled) = (Asked::default(), RefCell::new(Vec::new()));
        let open = || asked.open(|number| cancelled.borrow_mut().push(number));
        drop(open());
        open().is_sent();
        let mut over = open();
        over.is_sent();
        over.is_over();
        drop(over);
        assert_eq!(cancelled.borrow().as_slice(), [2], "the first was not sent, and the third is over");
        assert_eq!(asked.answered(2, response()), Answered::Late);
    }
}
