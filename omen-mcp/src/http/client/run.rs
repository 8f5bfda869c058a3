//! Session with a server over HTTP: the messages to the server, until either side ends it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::{Method, StatusCode};
use omen_base::bounded;
use tokio::io::{DuplexStream, duplex};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep, timeout};

use super::body::message;
use super::error::RequestError;
use super::exchange::{self, event};
use super::legacy::{self, OpenFailure};
use super::session::{RemoteParts, RemoteSession, ServerEvent, gone};
use super::sse::Parser;
use crate::frame::id::Id;
use crate::frame::{Frame, Kind};
use crate::handshake::Era;
use crate::http::mcp_headers::stated_version;
use crate::line::Lines;
use crate::methods::{CANCELLED, INITIALIZE, INITIALIZED, method_of};

/// Size of the pipe between the two sides, which is short because waiting messages are bounded elsewhere.
const PIPE: usize = 64 << 10;
/// Maximum number of messages waiting for the session, and of messages other than requests waiting for the server.
const QUEUE: usize = 4;
/// Time for sending the last messages and the end of the session.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Begins a session in separate tasks. Returns the stream that takes messages as lines, and the output of the server.
pub(super) fn connect(remote: Arc<RemoteParts>) -> (DuplexStream, mpsc::Receiver<ServerEvent>) {
    let (near, far) = duplex(PIPE);
    let (said, heard) = mpsc::channel(QUEUE);
    tokio::spawn(run(Arc::new(RemoteSession::new(remote, said)), far));
    (near, heard)
}

/// Message that is not a request.
struct Notice {
    frame: Frame,
    /// Request to drop once the server has been notified that nobody waits for it.
    cancels: Option<(Id, AbortHandle)>,
    sent: Option<oneshot::Sender<bool>>,
}

async fn run(session: Arc<RemoteSession>, input: DuplexStream) {
    // Lines of this program are bounded when they are created.
    let mut lines = Lines::new(input, usize::MAX);
    let room = Arc::new(Semaphore::new(session.remote.limits.requests.min(Semaphore::MAX_PERMITS)));
    let (notices, queue) = mpsc::channel(QUEUE);
    let (mut tasks, mut sender) = (JoinSet::new(), JoinSet::new());
    sender.spawn(send_all(Arc::clone(&session), queue));
    loop {
        let line = tokio::select! {
            biased;
            () = session.closed() => break,
            Some(_) = tasks.join_next() => continue,
            line = lines.next() => line,
        };
        let Ok(Some(line)) = line else { break };
        // INVARIANT: only messages that were read before are sent.
        let Ok(frame) = Frame::read(line) else { continue };
        if matches!(frame.kind, Kind::Request(_)) {
            ask(&session, frame, &room, &mut tasks);
        } else {
            notify(&session, frame, &notices, &mut tasks).await;
        }
    }
    tasks.shutdown().await;
    drop(notices);
    let _ = timeout(LAST_WORDS, sender.join_next()).await;
    sender.shutdown().await;
    if session.has_id() {
        let mut headers = session.of_session();
        headers.remove(CONTENT_TYPE);
        let _ = session.remote.sender.send(Method::DELETE, headers, Bytes::new(), LAST_WORDS).await;
    }
}

/// Sends a request in a separate task.
fn ask(session: &Arc<RemoteSession>, frame: Frame, room: &Arc<Semaphore>, tasks: &mut JoinSet<()>) {
    let Some(id) = frame.id().cloned() else { return };
    let Ok(permit) = Arc::clone(room).try_acquire_owned() else {
        let why = format!("{} requests are already open", session.remote.limits.requests);
        return session.say_soon(ServerEvent::Failed(id, RequestError::NotSent(why)));
    };
    let is_stateless = method_of(&frame) != Some(INITIALIZE) && stated_version(&frame).is_some();
    let era = if is_stateless { Era::Stateless } else { Era::Handshake };
    let own = Arc::clone(session);
    session.open(id, era, || {
        tasks.spawn(async move {
            exchange::ask(own, frame, era).await;
            drop(permit);
        })
    });
}

async fn notify(session: &Arc<RemoteSession>, frame: Frame, notices: &mpsc::Sender<Notice>, tasks: &mut JoinSet<()>) {
    let is = |name: &str| matches!(&frame.kind, Kind::Notification(method) if method == name);
    if is(CANCELLED) {
        let Some(id) = frame.requested() else { return };
        // A request that is over need not be cancelled.
        let Some(asked) = session.close(&id) else { return };
        match asked.era {
            // Closing the connection cancels the request.
            Era::Stateless => {
                asked.task.abort();
                session.say_soon(ServerEvent::Failed(id, RequestError::Cancelled));
            }
            Era::Handshake => {
                let _ = notices.send(Notice { frame, cancels: Some((id, asked.task)), sent: None }).await;
            }
        }
        return;
    }
    if is(INITIALIZED) {
        // Nothing overtakes this notification.
        let (sent, is_sent) = oneshot::channel();
        let _ = notices.send(Notice { frame, cancels: None, sent: Some(sent) }).await;
        if is_sent.await.unwrap_or(false) {
            tasks.spawn(listen(Arc::clone(session)));
        }
        return;
    }
    let _ = notices.send(Notice { frame, cancels: None, sent: None }).await;
}

/// Sends messages other than requests, in order.
async fn send_all(session: Arc<RemoteSession>, mut queue: mpsc::Receiver<Notice>) {
    while let Some(Notice { frame, cancels, sent }) = queue.recv().await {
        let is_sent = send(&session, &frame).await;
        if let Some(sent) = sent {
            let _ = sent.send(is_sent);
        }
        if let Some((id, task)) = cancels {
            task.abort();
            session.say_soon(ServerEvent::Failed(id, RequestError::Cancelled));
        }
    }
}

/// Sends a notification or a response once. Returns whether the server has accepted it.
async fn send(session: &RemoteSession, frame: &Frame) -> bool {
    let what = method_of(frame).map_or_else(|| "a response".to_owned(), |method| format!("`{}`", bounded(method)));
    let headers = match method_of(frame) {
        Some(method) => session.of_notification(method),
        None => session.is_begun().then(|| session.of_session()),
    };
    let Some(headers) = headers else {
        session.say_soon(ServerEvent::Note(format!("dropped {what} to the server: it belongs to no session")));
        return false;
    };
    let body = Bytes::copy_from_slice(frame.text().as_bytes());
    let sent = session.remote.sender.send(Method::POST, headers, body, session.remote.limits.notice).await;
    let error = match sent {
        Ok(response) if session.is_begun() => match session.same_session(response.headers()) {
            Err(broken) => {
                if let Some(lost) = broken.lost {
                    session.say_soon(ServerEvent::Lost(lost));
                }
                return false;
            }
            Ok(()) => match response.status() {
                status if status.is_success() => return true,
                StatusCode::NOT_FOUND if session.has_id() => {
                    session.say_soon(ServerEvent::Lost(gone()));
                    return false;
                }
                status => RequestError::of_status(status),
            },
        },
        Ok(response) if response.status().is_success() => return true,
        Ok(response) => RequestError::of_status(response.status()),
        Err(error) => error,
    };
    session.say_soon(ServerEvent::Note(format!("the server did not accept {what}: {error}")));
    false
}

/// Duration after which an open stream counts as working.
const WORKS: Duration = Duration::from_secs(10);

/// Reads the stream of unsolicited messages, reopening it until the session ends. Requests are answered even without it.
async fn listen(session: Arc<RemoteSession>) {
    let remote = &session.remote;
    let mut parser = Parser::new(remote.server.line_bytes, remote.room.hold());
    let mut failures = 0;
    loop {
        let why = match legacy::open(&session, parser.last_id(), remote.limits.idle).await {
            Ok(body) => {
                parser.begin();
                let since = Instant::now();
                let mut has_news = false;
                match read(&session, &mut parser, body, &mut has_news).await {
                    Ok(()) => {}
                    Err(lost) => return session.say(ServerEvent::Lost(lost)).await,
                }
                if has_news || since.elapsed() >= WORKS {
                    failures = 0;
                }
                "it ends at once".to_owned()
            }
            Err(OpenFailure::NotHere) if parser.last_id().is_some() => {
                parser.forget();
                "it cannot be resumed".to_owned()
            }
            Err(OpenFailure::NotHere) => return,
            Err(OpenFailure::Over(broken)) => {
                return session.say(ServerEvent::Lost(broken.lost.unwrap_or(broken.error))).await;
            }
            Err(OpenFailure::Failed(error)) => error.to_string(),
        };
        failures += 1;
        if failures > remote.limits.retries {
            let note = format!("gave up on the stream for unsolicited messages of the server: {why}");
            return session.say(ServerEvent::Note(note)).await;
        }
        sleep(legacy::wait(&session, &parser, failures)).await;
    }
}

/// Reads to the end of the stream. Data that is not a message ends the session, as on a server with one stream for everything.
async fn read(
    session: &RemoteSession,
    parser: &mut Parser,
    mut body: Incoming,
    has_news: &mut bool,
) -> Result<(), RequestError> {
    let mut bytes = Bytes::new();
    loop {
        match event(parser, &mut body, &mut bytes, None).await {
            Ok(Some(data)) => {
                let said = message(data, &session.remote.sender.headers)?;
                if !matches!(said.kind, Kind::Request(_) | Kind::Notification(_)) {
                    return Err(RequestError::Malformed("a response on a stream that belongs to no request".into()));
                }
                *has_news = true;
                session.say(ServerEvent::Message(said)).await;
            }
            Ok(None) | Err(RequestError::Died(_)) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}
