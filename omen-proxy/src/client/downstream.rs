//! The client's side: messages to the client, and requests that the proxy itself sends to it.

use omen_gate::mcp::Line;

use super::own_requests::{OwnRequests, ResponseMatch, cancelled};
use omen_mcp::Id;
use omen_mcp::frame::Frame;
use omen_mcp::outbox::Outbox;

/// Client of the proxy. The reader of its messages passes on responses to the proxy's own requests.
#[derive(Debug)]
pub(crate) struct Downstream {
    out: Outbox,
    own_requests: OwnRequests,
}

impl Downstream {
    pub(crate) fn new(out: Outbox) -> Self {
        Self { out, own_requests: OwnRequests::default() }
    }

    /// Sends a line. If the client is gone, everyone who waits for it notices.
    pub(crate) async fn send(&self, line: impl Into<Line>) {
        let _ = self.out.send(line).await;
    }

    /// Returns once the client can no longer be written to.
    pub(crate) async fn gone(&self) {
        self.out.closed().await;
    }

    /// Sends a request under one of the proxy's own ids, and waits for the response; `None` if the client is gone. Dropping
    /// the future cancels the request.
    pub(crate) async fn ask(&self, line: impl FnOnce(&str) -> Vec<u8>) -> Option<Frame> {
        let mut open = self.own_requests.open(|number| self.out.send_now(cancelled(number)));
        let line = line(&Id::write(open.number()));
        open.is_sent();
        self.out.send(line).await.ok()?;
        tokio::select! {
            biased;
            answer = open.answer() => answer?.ok(),
            () = self.out.closed() => None,
        }
    }

    /// Returns a number for a request that is relayed under one of the proxy's own ids.
    pub(crate) fn number(&self) -> u64 {
        self.own_requests.number()
    }

    /// Accepts a response to one of the proxy's own requests.
    pub(crate) fn answered(&self, response: Frame) -> ResponseMatch {
        match response.id().and_then(Id::ours) {
            Some(number) => self.own_requests.answered(number, response),
            None => ResponseMatch::Nothing,
        }
    }
}
