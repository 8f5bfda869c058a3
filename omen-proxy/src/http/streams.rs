//! The streams of a session: the messages for its client, each on one of them, until they are read.
//!
//! Each request has a stream, which ends with its response; one more stream is for what belongs to no request. A stream goes
//! on without a reader: who has lost the connection can read on where it was (up to 2025-11-25). What is kept is bounded by
//! its bytes. If there is no room, what was read is forgotten first; then a reader is waited for, which reads on or is cut
//! off; and only what nobody reads is lost, the oldest first.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use omen_base::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

use omen_mcp::Id;

/// The number of the stream for what belongs to no request.
pub(super) const STANDING: u64 = 0;

#[derive(Debug)]
pub(super) struct Streams {
    state: Mutex<State>,
    /// Something was read, or a reader has gone.
    room: Notify,
    limit: usize,
}

#[derive(Debug)]
struct State {
    streams: BTreeMap<u64, Stream>,
    /// The streams of requests without a response, by their ids.
    open: HashMap<Id, u64>,
    /// Ids of requests whose client does not wait any more, and that may be open behind the proxy.
    given_up: VecDeque<Id>,
    last: u64,
    readers: u64,
    bytes: usize,
    is_over: bool,
    used: Instant,
}

#[derive(Debug)]
struct Stream {
    request: Option<Asked>,
    events: VecDeque<Bytes>,
    /// The number of the first of those; the first of all has 1.
    first: u64,
    /// The number of the next one that was not taken yet.
    next: u64,
    reader: Option<u64>,
    is_over: bool,
    news: Arc<Notify>,
}

/// A request of the client, as it is known to the proxy.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) id: Id,
    /// The token by which progress names it.
    pub(super) token: Option<Id>,
    /// Its id and its token as the client wrote them, where the proxy knows it by others.
    pub(super) raw_id: String,
    pub(super) raw_token: Option<String>,
    /// It stays open for notifications (`subscriptions/listen`).
    pub(super) listens: bool,
    /// It asks for the list of tools.
    pub(super) lists: bool,
}

/// A message of a stream, with its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) number: u64,
    pub(super) message: Bytes,
    /// Whether none comes after it.
    pub(super) is_last: bool,
}

/// Another request with this id is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InUse;

/// What a message costs beside its bytes, so that many small ones are bounded, too.
const EACH: usize = 256;

/// How many ids are remembered of requests that were given up.
const MOST_GIVEN_UP: usize = 1024;

/// How many streams are kept whose response was read.
const MOST_FINISHED: usize = 32;

impl Stream {
    fn new(request: Option<Asked>) -> Self {
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

    /// Drops the first event. Gives it, if it was not taken.
    fn pop(&mut self) -> Option<(usize, Option<Bytes>)> {
        let event = self.events.pop_front()?;
        let cost = event.len() + EACH;
        self.first += 1;
        let is_lost = self.next < self.first;
        self.next = self.next.max(self.first);
        Some((cost, is_lost.then_some(event)))
    }
}

impl State {
    /// Forgets what was read: streams that are over first, then the rest of it.
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

    /// Drops what nobody reads, until there is room: first that which belongs to no request.
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
        let state = State {
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

    /// Opens the stream of a request.
    pub(super) fn open(&self, asked: impl FnOnce(u64) -> Asked) -> Result<u64, InUse> {
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

    /// The request was not sent: it has no stream.
    pub(super) fn unasked(&self, number: u64) {
        let mut state = self.state.lock();
        state.open.retain(|_, open| *open != number);
        state.forget(number);
    }

    /// The open request with this id.
    pub(super) fn asked(&self, id: &Id) -> Option<(u64, Asked)> {
        let state = self.state.lock();
        let number = *state.open.get(id)?;
        Some((number, state.streams.get(&number)?.request.clone()?))
    }

    /// The open request that progress names by a token.
    pub(super) fn of_token(&self, token: &Id) -> Option<(u64, Asked)> {
        let state = self.state.lock();
        let numbers = state.open.values();
        let mut all = numbers.filter_map(|number| Some((*number, state.streams.get(number)?.request.clone()?)));
        all.find(|(_, asked)| asked.token.as_ref() == Some(token))
    }

    /// The only request that is open and does not listen.
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

    /// The stream for a message of which it is not known to which request it belongs: that of the only open request; else
    /// the standing one, if it is read; else that of the latest request that is read. Without a reader it waits for one of
    /// the standing stream.
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

    /// Puts a message on a stream, once there is room. Gives what was lost over it.
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

    /// A stream ends without another message: nobody waits for its response.
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

    /// A response has come for a request that nobody waits for.
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

    /// Reads a stream, from the event after a number, or from the next one. The reader before is replaced. None
    /// if the stream is not known, or the event is not there any more.
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

    /// Since when nobody has used the session; nothing while somebody does.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let state = self.state.lock();
        let is_used = state.streams.values().any(|stream| stream.reader.is_some() || stream.is_open());
        (!is_used).then_some(state.used)
    }

    pub(super) fn is_used(&self) {
        self.state.lock().used = Instant::now();
    }
}

fn put(state: &mut State, number: u64, message: Bytes, is_last: bool) {
    let State { streams, open, bytes, is_over, .. } = state;
    let Some(stream) = streams.get_mut(&number).filter(|stream| !stream.is_over && !*is_over) else { return };
    *bytes += message.len() + EACH;
    stream.events.push_back(message);
    if is_last {
        stream.is_over = true;
        open.retain(|_, other| *other != number);
    }
    stream.news.notify_waiters();
}

/// The reader of a stream. Dropped, it leaves the stream to another one.
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

    /// The next event; none at the end, or if another reader has come. A dropped future has taken nothing.
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

    /// Whether the response has not come yet, and nobody else reads for it.
    pub(super) fn is_waiting(&self) -> bool {
        let state = self.streams.state.lock();
        state.streams.get(&self.number).is_some_and(|stream| stream.is_open() && stream.reader == Some(self.reader))
    }

    pub(super) fn asked(&self) -> Option<Asked> {
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

    use super::{Asked, EACH, InUse, MOST_FINISHED, STANDING, Streams};
    use omen_mcp::Id;

    fn asked(id: i64) -> impl FnOnce(u64) -> Asked {
        move |_| Asked {
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
        // A message longer than all the room goes alone.
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
