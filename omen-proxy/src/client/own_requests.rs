//! Open requests that the proxy itself has sent to one side.

use std::collections::HashMap;

use omen_base::Mutex;
use omen_gate::Fault;
use tokio::sync::oneshot;

use omen_mcp::Id;
use omen_mcp::frame::Frame;

/// Open requests that the proxy has sent to one side, by number. No number is used twice, so a late or second answer is never taken for the answer to another request.
#[derive(Debug, Default)]
pub(crate) struct OwnRequests(Mutex<OpenOwnRequests>);

/// Open requests, and the last number that was used.
#[derive(Debug, Default)]
struct OpenOwnRequests {
    last: u64,
    open: HashMap<u64, oneshot::Sender<Result<Frame, Fault>>>,
}

/// Match of a response with the requests of the proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResponseMatch {
    /// A request that was open and is now closed.
    Open,
    /// A request for which nobody waits any more: it was cancelled or has already been answered.
    Late,
    /// No request.
    Nothing,
}

impl OwnRequests {
    /// Returns a number unique among requests, for a request that is relayed under it.
    pub(crate) fn number(&self) -> u64 {
        let mut state = self.0.lock();
        state.last += 1;
        state.last
    }

    /// Opens a request. `cancel` is called if the request is dropped after it was sent and before its answer.
    pub(crate) fn open<C: FnMut(u64)>(&self, cancel: C) -> OwnRequest<'_, C> {
        let (sender, receiver) = oneshot::channel();
        let mut state = self.0.lock();
        state.last += 1;
        let number = state.last;
        state.open.insert(number, sender);
        OwnRequest { requests: self, number, receiver, at: RequestPhase::Open, cancel }
    }

    pub(crate) fn answered(&self, number: u64, response: Frame) -> ResponseMatch {
        self.over(number, Ok(response))
    }

    /// Ends a request that will not be answered.
    pub(crate) fn failed(&self, number: u64, fault: Fault) -> ResponseMatch {
        self.over(number, Err(fault))
    }

    fn over(&self, number: u64, answer: Result<Frame, Fault>) -> ResponseMatch {
        let mut state = self.0.lock();
        match state.open.remove(&number) {
            Some(sender) => {
                drop(state);
                // The request may have been cancelled at this moment.
                let _ = sender.send(answer);
                ResponseMatch::Open
            }
            None if (1..=state.last).contains(&number) => ResponseMatch::Late,
            None => ResponseMatch::Nothing,
        }
    }
}

/// Open request of the proxy. It is cancelled if dropped after it was sent and before its answer.
#[derive(Debug)]
pub(crate) struct OwnRequest<'a, C: FnMut(u64)> {
    requests: &'a OwnRequests,
    number: u64,
    receiver: oneshot::Receiver<Result<Frame, Fault>>,
    at: RequestPhase,
    cancel: C,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestPhase {
    Open,
    Sent,
    Over,
}

impl<C: FnMut(u64)> OwnRequest<'_, C> {
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Marks the request as about to be sent.
    pub(crate) fn is_sent(&mut self) {
        self.at = RequestPhase::Sent;
    }

    /// Marks the request as over, because nobody is left to notify of a cancellation.
    pub(crate) fn is_over(&mut self) {
        self.at = RequestPhase::Over;
    }

    /// Returns the answer, or the reason why there is none; `None` if the connection is over.
    pub(crate) async fn answer(&mut self) -> Option<Result<Frame, Fault>> {
        let answer = (&mut self.receiver).await.ok();
        self.at = RequestPhase::Over;
        answer
    }
}

impl<C: FnMut(u64)> Drop for OwnRequest<'_, C> {
    fn drop(&mut self) {
        // An answer that has just arrived needs no cancellation, but a cancellation does no harm.
        let was_open = self.requests.0.lock().open.remove(&self.number).is_some();
        if self.at == RequestPhase::Sent && was_open {
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

    use super::{OwnRequests, ResponseMatch};
    use omen_mcp::frame::Frame;

    fn response() -> Frame {
        Frame::read(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_vec()).unwrap()
    }

    #[tokio::test]
    async fn an_answer_is_taken_once() {
        let requests = OwnRequests::default();
        let mut open = requests.open(|_| {});
        assert_eq!(requests.answered(2, response()), ResponseMatch::Nothing);
        assert_eq!(requests.answered(0, response()), ResponseMatch::Nothing);
        assert_eq!(requests.answered(open.number(), response()), ResponseMatch::Open);
        assert_eq!(requests.answered(open.number(), response()), ResponseMatch::Late);
        assert!(open.answer().await.unwrap().is_ok());
    }

    #[tokio::test]
    async fn a_request_without_an_answer_fails_once() {
        let requests = OwnRequests::default();
        let mut open = requests.open(|_| {});
        assert_eq!(requests.failed(open.number(), Fault::died("x")), ResponseMatch::Open);
        assert_eq!(requests.answered(open.number(), response()), ResponseMatch::Late);
        assert_eq!(open.answer().await.unwrap().unwrap_err(), Fault::died("x"));
    }

    #[test]
    fn what_was_sent_and_is_dropped_is_cancelled() {
        let (requests, cancelled) = (OwnRequests::default(), RefCell::new(Vec::new()));
        let open = || requests.open(|number| cancelled.borrow_mut().push(number));
        drop(open());
        open().is_sent();
        let mut over = open();
        over.is_sent();
        over.is_over();
        drop(over);
        assert_eq!(cancelled.borrow().as_slice(), [2], "the first was not sent, and the third is over");
        assert_eq!(requests.answered(2, response()), ResponseMatch::Late);
    }
}
