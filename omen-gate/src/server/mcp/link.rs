//! State shared by the two ends of a connection: how it ended, and whether the tool list is stale.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::watch;

use crate::call::Fault;
use omen_mcp::process::Wish;

/// State shared by the server's side, which calls, and the transport, which reads.
#[derive(Debug)]
pub(super) struct Link {
    /// Keeps counting across restarts.
    revision: Arc<AtomicU64>,
    end: watch::Sender<Option<End>>,
    wish: watch::Sender<Wish>,
}

/// Reason why a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The server ended or closed its output.
    Closed(String),
    /// The server sent a message larger than this number of bytes.
    Oversized(usize),
    /// The server violated the protocol.
    Malformed(String),
    /// The gate stopped the server.
    Stopped,
}

impl Link {
    pub(super) fn new(revision: Arc<AtomicU64>) -> Self {
        Self { revision, end: watch::Sender::new(None), wish: watch::Sender::new(Wish::Live) }
    }

    /// Marks the tool list as possibly changed.
    pub(super) fn changed(&self) {
        self.revision.fetch_add(1, Ordering::Release);
    }

    /// Ends the connection; only the first reason counts. A server that has violated the protocol is killed, because
    /// nobody listens to it any more.
    pub(super) fn end(&self, end: End) {
        self.wish(match end {
            End::Closed(_) | End::Stopped => Wish::Stop,
            End::Oversized(_) | End::Malformed(_) => Wish::Kill,
        });
        let first = self.end.send_if_modified(|seen| {
            let first = seen.is_none();
            if first {
                *seen = Some(end);
            }
            first
        });
        if first {
            self.changed();
        }
    }

    /// Sets what is to happen to the process. A wish is never taken back.
    pub(super) fn wish(&self, wish: Wish) {
        self.wish.send_if_modified(|held| {
            let further = *held < wish;
            if further {
                *held = wish;
            }
            further
        });
    }

    pub(super) fn wishes(&self) -> watch::Receiver<Wish> {
        self.wish.subscribe()
    }

    /// Returns how the connection ended, if it has.
    pub(super) fn ended(&self) -> Option<End> {
        self.end.borrow().clone()
    }

    /// Waits for the connection to end.
    pub(super) async fn over(&self) -> End {
        let mut end = self.end.subscribe();
        match end.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(end)) => end.clone(),
            // Unreachable: the sender is `self`.
            _ => End::Stopped,
        }
    }
}

impl End {
    /// Returns the fault for a request that was open: the tool may have run.
    pub(super) fn during(&self) -> Fault {
        match self {
            Self::Closed(why) => Fault::Died { why: why.clone() },
            Self::Oversized(limit) => Fault::Oversized { limit: u64::try_from(*limit).unwrap_or(u64::MAX) },
            Self::Malformed(why) => Fault::Malformed { why: why.clone() },
            Self::Stopped => Fault::Died { why: "it was stopped".to_owned() },
        }
    }

    /// Returns the fault for a request that could no longer be sent.
    pub(super) fn before(&self) -> Fault {
        let why = match self {
            Self::Closed(why) => why.clone(),
            Self::Oversized(limit) => format!("the connection was closed: a message was larger than {limit} bytes"),
            Self::Malformed(why) => format!("the connection was closed: {why}"),
            Self::Stopped => "it was stopped".to_owned(),
        };
        Fault::Unreachable { why }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::Ordering;

    use super::{End, Link, Wish};

    #[test]
    fn only_the_first_end_counts_and_a_wish_is_not_taken_back() {
        let revision = Arc::default();
        let link = Link::new(Arc::clone(&revision));
        link.end(End::Oversized(9));
        link.end(End::Closed("it ended".to_owned()));
        assert_eq!(link.ended(), Some(End::Oversized(9)));
        assert_eq!(*link.wishes().borrow(), Wish::Kill);
        assert_eq!(revision.load(Ordering::Acquire), 1, "a lost server has no tools: the list is stale");
    }
}
