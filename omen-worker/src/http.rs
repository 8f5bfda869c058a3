//! The endpoints of a worker: `/metrics`, `/livez` and `/readyz`.
//!
//! They answer short requests without a body, so there is no library for it in the tree.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::metrics::Metrics;

/// Answers until it is dropped.
pub(crate) async fn serve(listener: TcpListener, metrics: Arc<Metrics>) {
    let mut open = VecDeque::new();
    loop {
        match listener.accept().await {
            Ok((connection, _)) => {
                open.retain(|connection: &JoinHandle<()>| !connection.is_finished());
                // Those that ask for nothing keep nobody from an answer: the oldest one goes.
                if open.len() >= CONNECTIONS
                    && let Some(oldest) = open.pop_front()
                {
                    oldest.abort();
                }
                let metrics = Arc::clone(&metrics);
                open.push_back(tokio::spawn(async move {
                    // A client that hangs up gets no answer.
                    let _ = timeout(PATIENCE, answer(connection, &metrics)).await;
                }));
            }
            // No descriptor is free, or the client has gone.
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

async fn answer(mut connection: TcpStream, metrics: &Metrics) -> std::io::Result<()> {
    let mut request = Vec::new();
    let mut part = [0; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") && request.len() < LONGEST {
        match connection.read(&mut part).await? {
            0 => return Ok(()),
            count => request.extend_from_slice(part.get(..count).unwrap_or_default()),
        }
    }
    let response = response(&request, metrics);
    connection.write_all(response.as_bytes()).await?;
    connection.shutdown().await
}

fn response(request: &[u8], metrics: &Metrics) -> String {
    let line = request.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let mut words = std::str::from_utf8(line).unwrap_or_default().split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = path.split('?').next().unwrap_or_default();
    let (status, kind, body) = match (method, path) {
        ("GET" | "HEAD", "/metrics") => ("200 OK", "text/plain; version=0.0.4; charset=utf-8", metrics.text()),
        ("GET" | "HEAD", "/livez") if metrics.is_alive() => ("200 OK", PLAIN, "ok\n".to_owned()),
        ("GET" | "HEAD", "/livez") => ("503 Service Unavailable", PLAIN, "stuck\n".to_owned()),
        ("GET" | "HEAD", "/readyz") => match metrics.unready() {
            None => ("200 OK", PLAIN, "ok\n".to_owned()),
            Some(why) => ("503 Service Unavailable", PLAIN, format!("{why}\n")),
        },
        ("GET" | "HEAD", _) => ("404 Not Found", PLAIN, "try /metrics, /livez or /readyz\n".to_owned()),
        _ => ("405 Method Not Allowed", PLAIN, String::new()),
    };
    let length = body.len();
    let body = if method == "HEAD" { String::new() } else { body };
    format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
}

const PLAIN: &str = "text/plain; charset=utf-8";

/// The longest request.
const LONGEST: usize = 8 * 1024;

/// How long a request may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// How many are answered at a time.
const CONNECTIONS: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_answered() {
        let metrics = Metrics::new(1, crate::link::Link::new());
        let status = |request: &str| {
            let response = response(format!("{request}\r\nhost: a\r\n\r\n").as_bytes(), &metrics);
            response.split("\r\n").next().map(str::to_owned)
        };
        let is = |line: &str| Some(format!("HTTP/1.1 {line}"));
        assert_eq!(status("GET /metrics HTTP/1.1"), is("200 OK"));
        assert_eq!(status("GET /metrics?a=b HTTP/1.1"), is("200 OK"));
        assert_eq!(status("HEAD /livez HTTP/1.1"), is("200 OK"));
        assert_eq!(status("GET /readyz HTTP/1.1"), is("503 Service Unavailable"));
        assert_eq!(status("GET / HTTP/1.1"), is("404 Not Found"));
        assert_eq!(status("POST /metrics HTTP/1.1"), is("405 Method Not Allowed"));
        assert_eq!(status("\u{0}"), is("405 Method Not Allowed"));
    }
}
