//! HTTP server of a worker's health and metrics endpoints: `/metrics`, `/livez` and `/readyz`.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::metrics::Metrics;

/// Serves requests until the future is dropped.
pub(crate) async fn serve(listener: TcpListener, metrics: Arc<Metrics>) {
    let mut open = VecDeque::new();
    loop {
        match listener.accept().await {
            Ok((connection, _)) => {
                open.retain(|connection: &JoinHandle<()>| !connection.is_finished());
                // Idle connections must not block requests, so the oldest one is closed.
                if open.len() >= CONNECTIONS
                    && let Some(oldest) = open.pop_front()
                {
                    oldest.abort();
                }
                open.push_back(tokio::spawn(answer(connection, Arc::clone(&metrics))));
            }
            // No file descriptor is free, or the client has disconnected.
            Err(_) => sleep(Duration::from_millis(100)).await,
        }
    }
}

async fn answer(connection: TcpStream, metrics: Arc<Metrics>) {
    let service = service_fn(|request| std::future::ready(Ok::<_, Infallible>(response(&request, &metrics))));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .keep_alive(false)
        .header_read_timeout(PATIENCE)
        .max_buf_size(LONGEST)
        .serve_connection(TokioIo::new(connection), service);
    // A client that disconnects, or that reads too slowly, gets no response.
    let _ = timeout(2 * PATIENCE, connection).await;
}

fn response<B>(request: &Request<B>, metrics: &Metrics) -> Response<Full<Bytes>> {
    let is_read = [Method::GET, Method::HEAD].contains(request.method());
    let (status, kind, body) = match request.uri().path() {
        _ if !is_read => (StatusCode::METHOD_NOT_ALLOWED, PLAIN, String::new()),
        "/metrics" => (StatusCode::OK, METRICS, metrics.text()),
        "/livez" if metrics.is_alive() => (StatusCode::OK, PLAIN, "ok\n".to_owned()),
        "/livez" => (StatusCode::SERVICE_UNAVAILABLE, PLAIN, "stuck\n".to_owned()),
        "/readyz" => match metrics.unready() {
            None => (StatusCode::OK, PLAIN, "ok\n".to_owned()),
            Some(why) => (StatusCode::SERVICE_UNAVAILABLE, PLAIN, format!("{why}\n")),
        },
        _ => (StatusCode::NOT_FOUND, PLAIN, "try /metrics, /livez or /readyz\n".to_owned()),
    };
    let mut response = Response::new(Full::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

const PLAIN: &str = "text/plain; charset=utf-8";

const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Maximum size of a request head in bytes: the smallest limit that hyper accepts.
const LONGEST: usize = 8 * 1024;

/// Maximum time to receive the head of a request.
const PATIENCE: Duration = Duration::from_secs(5);

/// Maximum number of open connections.
const CONNECTIONS: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_answered() {
        let metrics = Metrics::new(1, crate::stream::link::Link::new());
        let status = |method: Method, path: &'static str| {
            let mut request = Request::new(());
            *request.method_mut() = method;
            *request.uri_mut() = hyper::Uri::from_static(path);
            response(&request, &metrics).status().as_u16()
        };
        assert_eq!(status(Method::GET, "/metrics"), 200);
        assert_eq!(status(Method::GET, "/metrics?a=b"), 200);
        assert_eq!(status(Method::HEAD, "/livez"), 200);
        assert_eq!(status(Method::GET, "/readyz"), 503);
        assert_eq!(status(Method::GET, "/"), 404);
        assert_eq!(status(Method::POST, "/metrics"), 405);
    }
}
