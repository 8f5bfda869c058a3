//! Whether there is a connection to the server, and when one is lost.
//!
//! The client makes a new connection by itself, but a request that was sent on the lost one waits for its answer until its time is
//! over. So who waits for an answer gives up when the connection is lost, and begins again on the next one.

use std::future::Future;

use async_nats::connection::State;
use async_nats::{Client, Event};
use tokio::sync::watch;

/// The connections of a client, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Link(watch::Sender<Connections>);

#[derive(Clone, Debug, Default)]
struct Connections {
    is_up: bool,
    /// How many were lost.
    lost: u64,
    /// What the client said last, if it was an error.
    error: Option<String>,
}

impl Link {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::default())
    }

    /// Notes what the client says. Returns what a person should know, which is each thing once.
    pub(crate) fn note(&self, event: &Event) -> Option<String> {
        let mut notice = None;
        self.0.send_if_modified(|connections| {
            let was_up = connections.is_up;
            match event {
                Event::Connected => {
                    if connections.lost > 0 && !was_up {
                        notice = Some("connected again".to_owned());
                    }
                    (connections.is_up, connections.error) = (true, None);
                }
                Event::Disconnected | Event::Closed => {
                    if was_up {
                        notice = Some("the connection was lost; connecting again".to_owned());
                        connections.lost += 1;
                    }
                    connections.is_up = false;
                }
                event => {
                    let error = Some(event.to_string());
                    if connections.error != error {
                        notice.clone_from(&error);
                        connections.error = error;
                    }
                }
            }
            connections.is_up != was_up
        });
        notice
    }

    /// Asks the client itself, which drops events if there are too many.
    pub(crate) fn check(&self, client: &Client) {
        let is_up = client.connection_state() == State::Connected;
        self.0.send_if_modified(|connections| is_up && !std::mem::replace(&mut connections.is_up, true));
    }

    /// Whether there is a connection.
    pub(crate) fn is_up(&self) -> bool {
        self.0.borrow().is_up
    }

    /// How many connections were lost.
    pub(crate) fn lost_so_far(&self) -> u64 {
        self.0.borrow().lost
    }

    /// Waits until there is a connection.
    pub(crate) async fn up(&self) {
        // It ends without one if the sender is gone, which this value has.
        let _ = self.0.subscribe().wait_for(|connections| connections.is_up).await;
    }

    /// Waits until the next connection is lost: the one that is there now, or the next if there is none.
    pub(crate) fn lost(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut changes = self.0.subscribe();
        let before = changes.borrow_and_update().lost;
        async move { drop(changes.wait_for(|connections| connections.lost != before).await) }
    }

    /// The changes from now on.
    pub(crate) fn changes(&self) -> Changes {
        Changes(self.0.subscribe())
    }
}

/// Changes between a connection and none.
#[derive(Debug)]
pub(crate) struct Changes(watch::Receiver<Connections>);

impl Changes {
    /// Waits for the next one.
    pub(crate) async fn next(&mut self) {
        let _ = self.0.changed().await;
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use async_nats::ClientError;
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn whoever_waits_learns_that_the_connection_is_lost() {
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
    fn a_person_is_told_each_thing_once() {
        let link = Link::new();
        let error = |text: &str| Event::ClientError(ClientError::Other(text.to_owned()));
        assert_eq!(link.note(&Event::Connected), None, "the worker says so itself");
        assert_eq!(link.note(&Event::Disconnected).unwrap(), "the connection was lost; connecting again");
        assert!(link.note(&error("refused")).unwrap().contains("refused"));
        assert_eq!(link.note(&error("refused")), None);
        assert!(link.note(&error("wrong password")).unwrap().contains("wrong password"));
        assert_eq!(link.note(&Event::Connected).unwrap(), "connected again");
        assert_eq!(link.note(&Event::Disconnected).unwrap(), "the connection was lost; connecting again");
        assert!(link.note(&error("wrong password")).is_some(), "it is of another connection");
    }
}
