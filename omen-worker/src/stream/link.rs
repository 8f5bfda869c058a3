//! State of the connection to the server.
//!
//! The client reconnects by itself, but a request on a lost connection waits until its timeout. So a caller that waits for a
//! response gives up when the connection is lost, and retries on the next one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_nats::Event;
use tokio::sync::Notify;
use tracing::{info, warn};

/// Successive connections of a client.
#[derive(Clone, Debug, Default)]
pub(crate) struct Link(Arc<LinkState>);

#[derive(Debug, Default)]
struct LinkState {
    connections: Mutex<Connections>,
    /// Wakes waiters in the order in which they began to wait, so that simulations are reproducible.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Connections {
    is_up: bool,
    /// Number of changes of the state.
    changes: u64,
    /// Number of lost connections.
    lost: u64,
    /// Last error that the client has reported.
    error: Option<String>,
}

impl Link {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    fn connections(&self) -> MutexGuard<'_, Connections> {
        self.0.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records an event of the client, and logs it unless it repeats the last one.
    pub(crate) fn note(&self, event: &Event) {
        let mut connections = self.connections();
        let was_up = connections.is_up;
        match event {
            Event::Connected => {
                let is_again = connections.lost > 0 && !was_up;
                connections.error = None;
                self.set(connections, true);
                if is_again {
                    info!("connected again");
                }
            }
            Event::Disconnected | Event::Closed => {
                connections.lost += u64::from(was_up);
                self.set(connections, false);
                if was_up {
                    warn!("the connection was lost; reconnecting");
                }
            }
            event => {
                let error = Some(event.to_string());
                let is_new = connections.error != error;
                connections.error = error;
                if is_new {
                    warn!("{event}");
                }
            }
        }
    }

    /// Records the state that the client itself reports, because it drops events if there are too many.
    pub(crate) fn check(&self, is_up: bool) {
        if is_up {
            self.set(self.connections(), true);
        }
    }

    fn set(&self, mut connections: MutexGuard<'_, Connections>, is_up: bool) {
        if std::mem::replace(&mut connections.is_up, is_up) != is_up {
            connections.changes += 1;
            drop(connections);
            self.0.changed.notify_waiters();
        }
    }

    async fn wait(&self, until: impl Fn(&Connections) -> bool) {
        loop {
            let mut changed = std::pin::pin!(self.0.changed.notified());
            // No change after this point is missed.
            changed.as_mut().enable();
            if until(&self.connections()) {
                return;
            }
            changed.await;
        }
    }

    /// Returns whether there is a connection.
    pub(crate) fn is_up(&self) -> bool {
        self.connections().is_up
    }

    /// Returns the number of lost connections.
    pub(crate) fn lost_so_far(&self) -> u64 {
        self.connections().lost
    }

    /// Waits until there is a connection.
    pub(crate) async fn up(&self) {
        self.wait(|connections| connections.is_up).await;
    }

    /// Waits until a connection is lost: the current one, or the next if there is none.
    pub(crate) fn lost(&self) -> impl Future<Output = ()> + Send + use<> {
        let (link, before) = (self.clone(), self.lost_so_far());
        async move { link.wait(|connections| connections.lost != before).await }
    }

    /// Returns the changes from now on.
    pub(crate) fn changes(&self) -> Changes {
        Changes { link: self.clone(), seen: self.connections().changes }
    }
}

/// Changes of the state of a connection.
#[derive(Debug)]
pub(crate) struct Changes {
    link: Link,
    seen: u64,
}

impl Changes {
    /// Waits for the next change.
    pub(crate) async fn next(&mut self) {
        let seen = self.seen;
        self.link.wait(|connections| connections.changes != seen).await;
        self.seen = self.link.connections().changes;
    }
}

#[cfg(test)]
mod tests {
    use async_nats::ClientError;
    use futures_util::FutureExt as _;
    use omen_testkit::logs::Logs;

    use super::*;

    #[test]
    fn waiters_are_woken_when_the_connection_is_lost() {
        let link = Link::new();
        assert!(!link.is_up() && link.up().now_or_never().is_none());
        link.note(&Event::Connected);
        assert!(link.is_up() && link.up().now_or_never().is_some());
        let (first, other) = (link.lost(), link.lost());
        assert!(other.now_or_never().is_none());
        link.note(&Event::Disconnected);
        link.note(&Event::Connected);
        assert!(first.now_or_never().is_some(), "also if there is another one meanwhile");
        assert!(link.lost().now_or_never().is_none());
        assert_eq!(link.lost_so_far(), 1);
    }

    #[test]
    fn a_change_is_not_missed() {
        let link = Link::new();
        let mut changes = link.changes();
        assert!(changes.next().now_or_never().is_none());
        link.note(&Event::Connected);
        link.note(&Event::Connected);
        link.note(&Event::SlowConsumer(1));
        assert!(changes.next().now_or_never().is_some() && changes.next().now_or_never().is_none());
        link.note(&Event::Disconnected);
        assert!(changes.next().now_or_never().is_some());
    }

    #[test]
    fn each_event_is_reported_once() {
        let link = Link::new();
        let error = |text: &str| Event::ClientError(ClientError::Other(text.to_owned()));
        let logs = Logs::capture();
        // Returns the log output for an event.
        let note = |event: &Event| {
            let before = logs.lines().len();
            logs.span().in_scope(|| link.note(event));
            logs.lines().split_off(before)
        };
        let nothing: [&str; 0] = [];
        assert_eq!(note(&Event::Connected), nothing, "the worker says so itself");
        assert_eq!(note(&Event::Disconnected), ["the connection was lost; reconnecting"]);
        assert!(note(&error("refused")).concat().contains("refused"));
        assert_eq!(note(&error("refused")), nothing);
        assert!(note(&error("wrong password")).concat().contains("wrong password"));
        assert_eq!(note(&Event::Connected), ["connected again"]);
        assert_eq!(note(&Event::Disconnected), ["the connection was lost; reconnecting"]);
        assert_eq!(note(&error("wrong password")).len(), 1, "it is of another connection");
    }
}
