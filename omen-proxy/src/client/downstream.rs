//! The client's side: what is sent to it, and the requests that the proxy itself has for it.

use omen_gate::mcp::Line;

use super::asked::{Answered, Asked, cancelled};
use omen_mcp::Id;
use omen_mcp::frame::Frame;
use omen_mcp::outbox::Outbox;

/// A client. The reader of its messages hands those on that answer requests of the proxy's own.
#[derive(Debug)]
pub(crate) struct Downstream {
    out: Outbox,
    asked: Asked,
}

impl Downstream {
    pub(crate) fn new(out: Outbox) -> Self {
        Self { out, asked: Asked::default() }
    }

    /// Sends a line. That the client is gone is seen by all who wait for it.
    pub(crate) async fn send(&self, line: impl Into<Line>) {
        let _ = self.out.send(line).await;
    }

    /// Comes when the client cannot be written to any more.
    pub(crate) async fn gone(&self) {
        self.out.closed().await;
    }

    /// Sends a request under an id of the proxy's own, and waits for the response; none if the client is gone. Dropping the
    /// future cancels the request.
    pub(crate) async fn ask(&self, line: impl FnOnce(&str) -> Vec<u8>) -> Option<Frame> {
        let mut open = self.asked.open(|number| self.out.send_now(cancelled(number)));
        let line = line(&Id::write(open.number()));
        open.is_sent();
        self.out.send(line).await.ok()?;
        tokio::select! {
            biased;
            answer = open.answer() => answer?.ok(),
            () = self.out.closed() => None,
        }
    }

    /// The number of a request that is passed on under an id of the proxy's own.
    pub(crate) fn number(&self) -> u64 {
        self.asked.number()
    }

    /// A response to a request of the proxy's own.
    pub(crate) fn answered(&self, response: Frame) -> Answered {
        match response.id().and_then(Id::ours) {
            Some(number) => self.asked.answered(number, response),
            None => Answered::Nothing,
        }
    }
}
