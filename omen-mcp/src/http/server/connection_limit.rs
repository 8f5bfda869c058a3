//! Open connections, and the choice of which one makes room for a new one.
//!
//! Until the head of its request is complete, nothing is known about a connection: anyone can open it, without a token. If no
//! token is required, the same holds until the body is complete. Such connections must therefore not keep others out: one
//! address may have only a bounded number of them, and if there is no room, the oldest is closed. A connection with a request
//! is never closed for another one.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use omen_base::Mutex;
use tokio::sync::{Notify, oneshot};

/// Open connections.
#[derive(Debug)]
pub(super) struct Places {
    state: Mutex<Connections>,
    /// Notified when a connection has ended or waits for its next request.
    room: Notify,
    /// Maximum number of connections, and of connections from one address that wait for a request.
    limits: (usize, usize),
}

#[derive(Debug, Default)]
struct Connections {
    open: BTreeMap<u64, OpenConnection>,
    /// Counter of connections and of ended requests. A lower value happened earlier.
    count: u64,
}

#[derive(Debug)]
struct OpenConnection {
    peer: Peer,
    /// Counter value since which the connection has had no request; `None` while it has one.
    waits_since: Option<u64>,
    /// Closes the connection when dropped.
    _closing: oneshot::Sender<()>,
}

/// Other side of a connection: an address, or the network assigned to a single IPv6 host.
type Peer = IpAddr;

fn peer(address: IpAddr) -> Peer {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((u128::from(address) & !u128::from(u64::MAX)).into()),
        address => address,
    }
}

/// Place of one connection, held until dropped.
#[derive(Debug)]
pub(super) struct Place {
    places: Arc<Places>,
    number: u64,
}

/// Receiver that completes when a connection has to be closed for another one.
pub(super) type MustClose = oneshot::Receiver<()>;

impl Places {
    /// Creates room for this many connections, of which a limited number from one address may wait for a request.
    pub(super) fn new(connections: usize, waiting: usize) -> Arc<Self> {
        let limits = (connections.max(1), waiting.max(1));
        Arc::new(Self { state: Mutex::default(), room: Notify::new(), limits })
    }

    /// Returns the place of a new connection once there is one. Waits only if every connection has a request.
    pub(super) async fn enter(self: &Arc<Self>, address: IpAddr) -> (Place, MustClose) {
        loop {
            let room = self.room.notified();
            tokio::pin!(room);
            room.as_mut().enable();
            if let Some(entered) = self.try_enter(peer(address)) {
                return entered;
            }
            room.await;
        }
    }

    fn try_enter(self: &Arc<Self>, peer: Peer) -> Option<(Place, MustClose)> {
        let mut state = self.state.lock();
        let (connections, waiting) = self.limits;
        if state.waiting(peer) >= waiting {
            state.close_oldest(peer);
        }
        if state.open.len() >= connections {
            let busiest = state.busiest()?;
            state.close_oldest(busiest);
        }
        state.count += 1;
        let number = state.count;
        let (closing, closed) = oneshot::channel();
        state.open.insert(number, OpenConnection { peer, waits_since: Some(number), _closing: closing });
        drop(state);
        Some((Place { places: Arc::clone(self), number }, closed))
    }
}

impl Connections {
    fn waiting(&self, peer: Peer) -> usize {
        self.open.values().filter(|open| open.peer == peer && open.waits_since.is_some()).count()
    }

    /// Returns the peer with the most waiting connections, if any are waiting.
    fn busiest(&self) -> Option<Peer> {
        let mut counts = BTreeMap::<Peer, usize>::new();
        for open in self.open.values().filter(|open| open.waits_since.is_some()) {
            *counts.entry(open.peer).or_default() += 1;
        }
        counts.into_iter().max_by_key(|(_, count)| *count).map(|(peer, _)| peer)
    }

    /// Closes the connection of a peer that has waited longest.
    fn close_oldest(&mut self, peer: Peer) {
        let waiting = self.open.iter().filter(|(_, open)| open.peer == peer);
        let oldest = waiting.filter_map(|(number, open)| Some((open.waits_since?, *number))).min();
        if let Some((_, number)) = oldest {
            self.open.remove(&number);
        }
    }
}

impl Place {
    /// Marks the connection as having a request. It is not closed for another one until the returned value is dropped.
    pub(super) fn serves(self: &Arc<Self>) -> Serving {
        self.waits(false);
        Serving(Arc::clone(self))
    }

    fn waits(&self, waits: bool) {
        let mut state = self.places.state.lock();
        state.count += u64::from(waits);
        let since = waits.then_some(state.count);
        if let Some(open) = state.open.get_mut(&self.number) {
            open.waits_since = since;
        }
        drop(state);
        if waits {
            self.places.room.notify_waiters();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.state.lock().open.remove(&self.number);
        self.places.room.notify_waiters();
    }
}

/// Request on a connection: from its token, or otherwise the end of its body, to the end of its response.
#[derive(Debug)]
pub(super) struct Serving(Arc<Place>);

impl Drop for Serving {
    fn drop(&mut self) {
        self.0.waits(true);
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::sync::Arc;

    use super::{MustClose, Place, Places};

    fn enter(places: &Arc<Places>, address: &str) -> Option<(Arc<Place>, MustClose)> {
        let entered = places.try_enter(super::peer(address.parse().unwrap()));
        entered.map(|(place, closed)| (Arc::new(place), closed))
    }

    fn is_closed(entered: &mut (Arc<Place>, MustClose)) -> bool {
        entered.1.try_recv() == Err(tokio::sync::oneshot::error::TryRecvError::Closed)
    }

    #[test]
    fn one_address_has_few_that_wait_and_the_oldest_makes_room() {
        let places = Places::new(100, 3);
        let mut all: Vec<_> = (0..5).map(|_| enter(&places, "10.0.0.1").unwrap()).collect();
        let mut other = enter(&places, "10.0.0.2").unwrap();
        assert_eq!(all.iter_mut().map(is_closed).collect::<Vec<_>>(), [true, true, false, false, false]);
        assert!(!is_closed(&mut other));
        // A connection with a request no longer waits, and afterwards it has waited for less time than the others.
        let serving = all[2].0.serves();
        all.push(enter(&places, "::ffff:10.0.0.1").unwrap());
        assert!(!all.iter_mut().skip(2).any(is_closed));
        drop(serving);
        all.push(enter(&places, "10.0.0.1").unwrap());
        assert_eq!(all.iter_mut().map(is_closed).collect::<Vec<_>>(), [true, true, false, true, false, false, false]);
    }

    #[test]
    fn a_host_of_ipv6_is_one_peer() {
        let places = Places::new(100, 1);
        let mut one = enter(&places, "2001:db8::1").unwrap();
        let mut other = enter(&places, "2001:db8:0:1::1").unwrap();
        let _two = enter(&places, "2001:db8::ffff:2").unwrap();
        assert_eq!((is_closed(&mut one), is_closed(&mut other)), (true, false));
    }

    #[test]
    fn without_room_the_address_with_most_loses_its_oldest_and_requests_lose_nothing() {
        let places = Places::new(4, 3);
        let mut flood: Vec<_> = (0..3).map(|_| enter(&places, "10.0.0.1").unwrap()).collect();
        let mut client = enter(&places, "10.0.0.2").unwrap();
        let mut next = enter(&places, "10.0.0.3").unwrap();
        assert_eq!(flood.iter_mut().map(is_closed).collect::<Vec<_>>(), [true, false, false]);
        assert!(!is_closed(&mut client));
        let serving = [flood[1].0.serves(), flood[2].0.serves(), client.0.serves(), next.0.serves()];
        assert!(enter(&places, "10.0.0.4").is_none(), "all have requests");
        assert!(!is_closed(&mut next));
        drop(serving);
        assert!(enter(&places, "10.0.0.4").is_some());
    }

    #[tokio::test]
    async fn a_connection_waits_until_a_request_is_over() {
        let places = Places::new(1, 1);
        let (place, _closed) = enter(&places, "10.0.0.1").unwrap();
        let serving = place.serves();
        let waiting = tokio::spawn({
            let places = Arc::clone(&places);
            async move { places.enter("10.0.0.2".parse().unwrap()).await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(serving);
        waiting.await.unwrap();
    }
}
