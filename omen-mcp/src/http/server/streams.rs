//! Streams of a session: each message for its client is kept on one of them until it is read.
//!
//! Each request has a stream, which ends with its response; another stream is for messages that belong to no request. A
//! stream continues without a reader: a client that has lost the connection can resume where it was (up to 2025-11-25). The
//! amount kept is bounded in bytes. If there is no room, messages that were read are forgotten first; next, the server waits
//! for a reader, which either continues reading or is cut off; and only messages that nobody reads are lost, oldest first.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use omen_base::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::frame::id::Id;

/// Number of the stream for messages that belong to no request.
pub(super) const STANDING: u64 = 0;

#[derive(Debug)]
pub(super) struct Streams {
    state: Mutex<StreamTable>,
    /// Notified when something was read or a reader has gone.
    room: Notify,
    limit: usize,
}

#[derive(Debug)]
struct StreamTable {
    streams: BTreeMap<u64, Stream>,
    /// Streams of requests without a response, by request id.
    open: HashMap<Id, u64>,
    /// Ids of requests whose client no longer waits, and which may still be open behind the server.
    given_up: VecDeque<Id>,
    last: u64,
    readers: u64,
    bytes: usize,
    is_over: bool,
    used: Instant,
}

#[derive(Debug)]
struct Stream {
    request: Option<ClientRequest>,
    events: VecDeque<Bytes>,
    /// Number of the first of these events; the first event of a stream has number 1.
    first: u64,
    /// Number of the next event that has not been taken.
    next: u64,
    reader: Option<u64>,
    is_over: bool,
    news: Arc<Notify>,
}

/// Client request as known to the server.
#[derive(Clone, Debug)]
pub(super) struct ClientRequest {
    pub(super) id: Id,
    /// Token by which progress notifications name the request.
    pub(super) token: Option<Id>,
    /// Id and token as the client wrote them, if the server uses others.
    pub(super) raw_id: String,
    pub(super) raw_token: Option<String>,
    /// Whether the request stays open for notifications (`subscriptions/listen`).
    pub(super) listens: bool,
    /// Whether the request asks for the tool list.
    pub(super) lists: bool,
}

/// Message of a stream, with its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) number: u64,
    pub(super) message: Bytes,
    /// Whether no further event follows.
    pub(super) is_last: bool,
}

/// Error: another request with this id is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InUse;

/// Cost of a message in addition to its bytes, which also bounds many small ones.
const EACH: usize = 256;

/// Maximum number of given-up request ids remembered.
const MOST_GIVEN_UP: usize = 1024;

/// Maximum number of streams kept after their response was read.
const MOST_FINISHED: usize = 32;

impl Stream {
    fn new(request: Option<ClientRequest>) -> Self {
        Self { request, events: VecDeque::new(), first: 1, next: 1, reader: None, is_over: false, news: Arc::default() }
    }

    fn end(&self) -> u64 {
        self.first + self.events.len() as u64
    }

    fn waits(&self) -> bool {
        self.next < self.end()
    }

    fn is_open(&self) -> bool {
        self.request.is_some() && !self.is_over
    }

    /// Drops the first event. Returns its cost, and the event if it had not been taken.
    fn pop(&mut self) -> Option<(usize, Option<Bytes>)> {
        let event = self.events.pop_front()?;
        let cost = event.len() + EACH;
        self.first += 1;
        let is_lost = self.next < self.first;
        self.next = self.next.max(self.first);
        Some((cost, is_lost.then_some(event)))
    }
}

impl StreamTable {
    /// Forgets messages that were read: finished streams first, then the rest.
    fn forget_taken(&mut self, needed: usize, limit: usize) {
        while self.bytes + needed > limit {
            let is_done = |stream: &Stream| stream.is_over && !stream.waits() && stream.reader.is_none();
            let Some(number) = self.streams.iter().find(|(_, stream)| is_done(stream)).map(|(number, _)| *number)
            else {
                break;
            };
            self.forget(number);
        }
        for stream in self.streams.values_mut() {
            while self.bytes + needed > limit && stream.first < stream.next {
                let Some((cost, _)) = stream.pop() else { break };
                self.bytes -= cost;
            }
        }
    }

    fn forget(&mut self, number: u64) {
        if let Some(stream) = self.streams.remove(&number) {
            self.bytes -= stream.events.iter().map(|event| event.len() + EACH).sum::<usize>();
        }
    }

    /// Drops messages that nobody reads until there is room, starting with those that belong to no request.
    fn drop_unread(&mut self, needed: usize, limit: usize) -> Vec<Bytes> {
        let mut lost = Vec::new();
        for stream in self.streams.values_mut().filter(|stream| stream.reader.is_none()) {
            while self.bytes + needed > limit {
                let Some((cost, event)) = stream.pop() else { break };
                self.bytes -= cost;
                lost.extend(event);
            }
        }
        lost
    }

    fn keep_few_finished(&mut self) {
        let is_done = |stream: &Stream| stream.is_over && stream.reader.is_none();
        let done: Vec<_> =
            self.streams.iter().filter(|(_, stream)| is_done(stream)).map(|(number, _)| *number).collect();
        for number in done.iter().take(done.len().saturating_sub(MOST_FINISHED)) {
            self.forget(*number);
        }
    }
}

impl Streams {
    pub(super) fn new(limit: usize) -> Self {
        let state = StreamTable {
            streams: BTreeMap::from([(STANDING, Stream::new(None))]),
            open: HashMap::new(),
            given_up: VecDeque::new(),
            last: STANDING,
            readers: 0,
            bytes: 0,
            is_over: false,
            used: Instant::now(),
        };
        Self { state: Mutex::new(state), room: Notify::new(), limit }
    }

    pub(super) fn open(&self, asked: impl FnOnce(u64) -> ClientRequest) -> Result<u64, InUse> {
        let mut state = self.state.lock();
        let number = state.last + 1;
        let asked = asked(number);
        if state.open.contains_key(&asked.id) || state.given_up.contains(&asked.id) {
            return Err(InUse);
        }
        (state.last, state.used) = (number, Instant::now());
        state.open.insert(asked.id.clone(), number);
        let mut stream = Stream::new(Some(asked));
        stream.is_over = state.is_over;
        state.streams.insert(number, stream);
        state.keep_few_finished();
        Ok(number)
    }

    /// Removes the stream of a request that was not sent.
    pub(super) fn unasked(&self, number: u64) {
        let mut state = self.state.lock();
        state.open.retain(|_, open| *open != number);
        state.forget(number);
    }

    pub(super) fn asked(&self, id: &Id) -> Option<(u64, ClientRequest)> {
        let state = self.state.lock();
        let number = *state.open.get(id)?;
        Some((number, state.streams.get(&number)?.request.clone()?))
    }

    /// Returns the open request that progress notifications name by a token.
    pub(super) fn of_token(&self, token: &Id) -> Option<(u64, ClientRequest)> {
        let state = self.state.lock();
        let numbers = state.open.values();
        let mut all = numbers.filter_map(|number| Some((*number, state.streams.get(number)?.request.clone()?)));
        all.find(|(_, asked)| asked.token.as_ref() == Some(token))
    }

    /// Returns the only open request that is not a listening one.
    pub(super) fn only(&self) -> Option<u64> {
        let state = self.state.lock();
        let mut open = state
            .streams
            .iter()
            .filter(|(_, stream)| stream.is_open() && stream.request.as_ref().is_some_and(|asked| !asked.listens));
        match (open.next(), open.next()) {
            (Some((number, _)), None) => Some(*number),
            _ => None,
        }
    }

    /// Returns the stream for a message whose request is unknown: that of the only open request, if it is read; otherwise
    /// the standing stream, if it is read; otherwise that of the latest request that is read. If there is no reader, the
    /// message waits on the standing stream.
    pub(super) fn likely(&self) -> u64 {
        let state = self.state.lock();
        let is_read = |stream: &Stream| stream.reader.is_some();
        let mut open = state.streams.iter().filter(|(_, stream)| stream.is_open());
        match (open.next(), open.next()) {
            (Some((number, stream)), None) if is_read(stream) => return *number,
            _ => {}
        }
        if state.streams.get(&STANDING).is_some_and(is_read) {
            return STANDING;
        }
        let latest = state.streams.iter().rev().find(|(_, stream)| stream.is_open() && is_read(stream));
        latest.map_or(STANDING, |(number, _)| *number)
    }

    /// Puts a message on a stream once there is room. Returns the messages lost because of it.
    pub(super) async fn push(&self, number: u64, message: impl Into<Bytes>, is_last: bool) -> Vec<Bytes> {
        let message = message.into();
        let needed = message.len() + EACH;
        loop {
            let room = self.room.notified();
            tokio::pin!(room);
            room.as_mut().enable();
            {
                let mut state = self.state.lock();
                if state.bytes + needed > self.limit {
                    state.forget_taken(needed, self.limit);
                }
                let is_full = state.bytes + needed > self.limit;
                let is_read = |stream: &Stream| stream.reader.is_some() && stream.waits();
                if !is_full || !state.streams.values().any(is_read) {
                    let lost = if is_full { state.drop_unread(needed, self.limit) } else { Vec::new() };
                    put(&mut state, number, message, is_last);
                    return lost;
                }
            }
            room.await;
        }
    }

    /// Ends a stream without another message, because nobody waits for its response.
    pub(super) fn close(&self, number: u64) {
        let mut state = self.state.lock();
        let id = state.open.iter().find(|(_, open)| **open == number).map(|(id, _)| id.clone());
        if let Some(id) = id {
            state.open.remove(&id);
            if state.given_up.len() >= MOST_GIVEN_UP {
                state.given_up.pop_front();
            }
            state.given_up.push_back(id);
        }
        if let Some(stream) = state.streams.get_mut(&number) {
            stream.is_over = true;
            stream.news.notify_waiters();
        }
    }

    /// Accepts a response to a request that nobody waits for.
    pub(super) fn answered(&self, id: &Id) {
        self.state.lock().given_up.retain(|given_up| given_up != id);
    }

    pub(super) fn end(&self) {
        let mut state = self.state.lock();
        state.is_over = true;
        state.open.clear();
        for stream in state.streams.values_mut() {
            stream.is_over = true;
            stream.news.notify_waiters();
        }
        drop(state);
        self.room.notify_waiters();
    }

    /// Reads a stream from the event after a number, or from the next event. Replaces the previous reader. Returns
    /// `None` if the stream is unknown or the event is no longer kept.
    pub(super) fn read(self: &Arc<Self>, number: u64, after: Option<u64>) -> Option<Reader> {
        let mut state = self.state.lock();
        state.used = Instant::now();
        state.readers += 1;
        let reader = state.readers;
        let stream = state.streams.get_mut(&number)?;
        if let Some(after) = after {
            if !(stream.first..=stream.end()).contains(&(after + 1)) {
                return None;
            }
            stream.next = after + 1;
        }
        stream.reader = Some(reader);
        let news = Arc::clone(&stream.news);
        news.notify_waiters();
        Some(Reader { streams: Arc::clone(self), number, reader, news })
    }

    /// Returns the time since which nobody has used the session; `None` while somebody does.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let state = self.state.lock();
        let is_used = state.streams.values().any(|stream| stream.reader.is_some() || stream.is_open());
        (!is_used).then_some(state.used)
    }

    pub(super) fn is_used(&self) {
        self.state.lock().used = Instant::now();
    }
}

fn put(state: &mut StreamTable, number: u64, message: Bytes, is_last: bool) {
    let StreamTable { streams, open, bytes, is_over, .. } = state;
    let Some(stream) = streams.get_mut(&number).filter(|stream| !stream.is_over && !*is_over) else { return };
    *bytes += message.len() + EACH;
    stream.events.push_back(message);
    if is_last {
        stream.is_over = true;
        open.retain(|_, other| *other != number);
    }
    stream.news.notify_waiters();
}

/// Reader of a stream. Dropping it leaves the stream to another reader.
#[derive(Debug)]
pub(super) struct Reader {
    streams: Arc<Streams>,
    number: u64,
    reader: u64,
    news: Arc<Notify>,
}

impl Reader {
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Returns the next event; `None` at the end or if another reader has taken over. A dropped future has taken nothing.
    pub(super) async fn next(&mut self) -> Option<Event> {
        loop {
            let news = self.news.notified();
            tokio::pin!(news);
            news.as_mut().enable();
            {
                let mut state = self.streams.state.lock();
                let stream = state.streams.get_mut(&self.number)?;
                if stream.reader != Some(self.reader) {
                    return None;
                }
                if stream.waits() {
                    let number = stream.next;
                    let index = usize::try_from(number - stream.first).unwrap_or(usize::MAX);
                    let message = stream.events.get(index)?.clone();
                    stream.next += 1;
                    let is_last = stream.is_over && !stream.waits();
                    drop(state);
                    self.streams.room.notify_waiters();
                    return Some(Event { number, message, is_last });
                }
                if stream.is_over {
                    return None;
                }
            }
            news.await;
        }
    }

    /// Returns whether the response has not arrived yet and no other reader waits for it.
    pub(super) fn is_waiting(&self) -> bool {
        let state = self.streams.state.lock();
        state.streams.get(&self.number).is_some_and(|stream| stream.is_open() && stream.reader == Some(self.reader))
    }

    pub(super) fn asked(&self) -> Option<ClientRequest> {
        self.streams.state.lock().streams.get(&self.number)?.request.clone()
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut state = self.streams.state.lock();
        state.used = Instant::now();
        if let Some(stream) = state.streams.get_mut(&self.number).filter(|stream| stream.reader == Some(self.reader)) {
            stream.reader = None;
        }
        drop(state);
        self.streams.room.notify_waiters();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::time::timeout;

    use super::{ClientRequest, EACH, InUse, MOST_FINISHED, STANDING, Streams};
    use crate::frame::id::Id;

    fn asked(id: i64) -> impl FnOnce(u64) -> ClientRequest {
        move |_| ClientRequest {
            id: Id::Number(id),
            token: Some(Id::Number(id + 100)),
            raw_id: id.to_string(),
            raw_token: None,
            listens: false,
            lists: false,
        }
    }

    fn streams(events: usize) -> Arc<Streams> {
        Arc::new(Streams::new(events * (EACH + 1)))
    }

    #[tokio::test]
    async fn a_stream_can_be_read_on_where_its_reader_has_left_it() {
        let streams = streams(10);
        let number = streams.open(asked(7)).unwrap();
        assert_eq!(streams.open(asked(7)), Err(InUse));
        assert_eq!(streams.asked(&Id::Number(7)).unwrap().0, number);
        assert_eq!(streams.of_token(&Id::Number(107)).unwrap().0, number);
        let mut reader = streams.read(number, None).unwrap();
        assert!(streams.push(number, "a", false).await.is_empty());
        assert_eq!(reader.next().await.unwrap().message, "a");
        assert!(reader.is_waiting());
        let mut other = streams.read(number, Some(0)).unwrap();
        assert_eq!((reader.next().await, reader.is_waiting()), (None, false));
        drop(reader);
        streams.push(number, "b", true).await;
        let read = (other.next().await.unwrap(), other.next().await.unwrap());
        assert_eq!((&read.0.message[..], read.0.is_last, read.1.number, read.1.is_last), (&b"a"[..], false, 2, true));
        assert_eq!(other.next().await, None);
        drop(other);
        assert!(streams.asked(&Id::Number(7)).is_none() && streams.open(asked(7)).is_ok());
        assert!(streams.read(number, Some(2)).is_some());
        assert!(streams.read(number, Some(3)).is_none() && streams.read(99, None).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_read_makes_room_and_a_reader_is_waited_for() {
        let streams = streams(2);
        let number = streams.open(asked(1)).unwrap();
        let mut reader = streams.read(number, None).unwrap();
        streams.push(number, "a", false).await;
        streams.push(number, "b", false).await;
        let third = streams.push(number, "c", false);
        tokio::pin!(third);
        assert!(timeout(Duration::from_secs(1), &mut third).await.is_err(), "there is no room");
        assert_eq!(reader.next().await.unwrap().message, "a");
        assert!(third.await.is_empty());
        assert_eq!(reader.next().await.unwrap().message, "b");
        assert!(streams.read(number, Some(0)).is_none(), "the first is forgotten");
    }

    #[tokio::test]
    async fn what_nobody_reads_is_lost_the_oldest_first() {
        let streams = streams(2);
        let number = streams.open(asked(1)).unwrap();
        streams.push(STANDING, "a", false).await;
        streams.push(STANDING, "b", false).await;
        assert_eq!(streams.push(STANDING, "c", false).await, ["a"]);
        assert_eq!(streams.push(number, "r", true).await, ["b"]);
        let mut standing = streams.read(STANDING, None).unwrap();
        assert_eq!(standing.next().await.unwrap().message, "c");
        assert_eq!(streams.read(number, None).unwrap().next().await.unwrap().message, "r");
        // A message larger than the total room is accepted alone.
        streams.push(STANDING, "x".repeat(10 * EACH), false).await;
        assert_eq!(standing.next().await.unwrap().message.len(), 10 * EACH);
    }

    #[tokio::test]
    async fn a_reader_that_goes_is_not_waited_for() {
        let streams = streams(1);
        let reader = streams.read(STANDING, None).unwrap();
        streams.push(STANDING, "a", false).await;
        let second = tokio::spawn({
            let streams = Arc::clone(&streams);
            async move { streams.push(STANDING, "b", false).await }
        });
        tokio::task::yield_now().await;
        drop(reader);
        assert_eq!(second.await.unwrap(), ["a"]);
    }

    #[tokio::test]
    async fn a_message_of_no_request_goes_where_it_is_read() {
        let streams = streams(10);
        assert_eq!((streams.likely(), streams.only()), (STANDING, None));
        let one = streams.open(asked(1)).unwrap();
        assert_eq!((streams.likely(), streams.only()), (STANDING, Some(one)), "nobody reads it");
        let _read = streams.read(one, None).unwrap();
        assert_eq!(streams.likely(), one);
        let two = streams.open(asked(2)).unwrap();
        let _also = streams.read(two, None).unwrap();
        assert_eq!((streams.likely(), streams.only()), (two, None));
        let _standing = streams.read(STANDING, None).unwrap();
        assert_eq!(streams.likely(), STANDING);
    }

    #[tokio::test]
    async fn the_id_of_a_request_that_was_given_up_is_in_use_until_it_is_answered() {
        let streams = streams(10);
        let number = streams.open(asked(1)).unwrap();
        let mut reader = streams.read(number, None).unwrap();
        streams.close(number);
        assert_eq!((reader.next().await, streams.open(asked(1))), (None, Err(InUse)));
        streams.answered(&Id::Number(1));
        assert!(streams.open(asked(1)).is_ok());
    }

    #[tokio::test]
    async fn streams_end_with_the_session_and_few_are_kept() {
        let streams = streams(10_000);
        for id in 0..100 {
            let number = streams.open(asked(id)).unwrap();
            streams.push(number, "a", true).await;
        }
        let kept = streams.state.lock().streams.len();
        assert!(kept <= MOST_FINISHED + 3, "{kept}");
        assert!(streams.idle_since().is_some());
        let number = streams.open(asked(1)).unwrap();
        assert!(streams.idle_since().is_none());
        let mut reader = streams.read(number, None).unwrap();
        streams.end();
        assert_eq!(reader.next().await, None);
        drop(reader);
        let late = streams.open(asked(2)).unwrap();
        assert_eq!(streams.read(late, None).unwrap().next().await, None);
    }
}
