//! Connections: their number, and their time limits.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, Sleep, sleep};
use tracing::{Instrument as _, warn};

use super::connection_limit::{MustClose, Place, Places};
use super::endpoint::Endpoint;

/// Maximum size of a request's head in bytes.
const HEAD_BYTES: usize = 32 << 10;

/// Maximum number of headers in a request.
const HEADERS: usize = 64;

/// Pause if no connection can be accepted, e.g. for lack of file descriptors: other connections may end in the meantime.
pub(super) const PAUSE: Duration = Duration::from_millis(100);

/// Accepts connections until asked to stop. Returns those that are open.
pub(super) async fn accept(
    listener: TcpListener,
    endpoint: &Arc<Endpoint>,
    stopping: &watch::Sender<bool>,
    until: impl Future<Output = ()>,
) -> JoinSet<()> {
    let places = Places::new(endpoint.limits.connections, endpoint.limits.waiting);
    let mut connections = JoinSet::new();
    tokio::pin!(until);
    loop {
        while connections.try_join_next().is_some() {}
        let accepted = async {
            let (stream, peer) = listener.accept().await?;
            // If there is no room, this connection waits here, and others wait in the system.
            Ok::<_, io::Error>((stream, places.enter(peer.ip()).await))
        };
        let accepted = tokio::select! {
            biased;
            () = &mut until => return connections,
            accepted = accepted => accepted,
        };
        match accepted {
            Ok((stream, (place, closed))) => {
                let (endpoint, stopping) = (Arc::clone(endpoint), stopping.subscribe());
                connections.spawn(serve(stream, endpoint, stopping, place, closed).in_current_span());
            }
            Err(error) => {
                warn!("cannot accept a connection: {error}");
                sleep(PAUSE).await;
            }
        }
    }
}

/// Returns the settings of connections whose requests have their heads sent in time.
pub(super) fn http1(head: Duration) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(head).max_buf_size(HEAD_BYTES).max_headers(HEADERS);
    builder
}

async fn serve(
    stream: TcpStream,
    endpoint: Arc<Endpoint>,
    mut stopping: watch::Receiver<bool>,
    place: Place,
    closed: MustClose,
) {
    let place = Arc::new(place);
    // Events are sent as soon as they arrive.
    let _ = stream.set_nodelay(true);
    let stream = TokioIo::new(Patient { stream, limit: endpoint.limits.stall, waits: None });
    let head = endpoint.limits.head;
    let service = service_fn(move |request| {
        // The head of the request has arrived.
        let answer = Arc::clone(&endpoint).answer(request, Arc::clone(&place));
        async move { Ok::<_, Infallible>(answer.await) }
    });
    let connection = http1(head).serve_connection(stream, service);
    tokio::pin!(connection);
    tokio::select! {
        // The reason why a connection ended is the client's concern.
        _ = &mut connection => return,
        // Another connection takes its place, and no request is lost.
        _ = closed => return,
        _ = stopping.wait_for(|stopping| *stopping) => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

/// Connection whose other side must read what it is sent in time.
struct Patient {
    stream: TcpStream,
    limit: Duration,
    waits: Option<Pin<Box<Sleep>>>,
}

impl Patient {
    /// Returns an error if data has waited too long to be written.
    fn patient<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waits = None;
            return written;
        }
        let limit = self.limit;
        let waits = self.waits.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + limit)));
        match waits.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for Patient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Patient {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.patient(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.patient(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.patient(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
