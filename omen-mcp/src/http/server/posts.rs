//! Loopback endpoint for programs on this machine that know a token: each POST is answered by a function.

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::access::Access;
use super::body::Body;
use super::headers::check_content;
use super::listener::{PAUSE, http1};
use super::reading::Reading;
use super::refusal::Refusal;
use super::token::Token;

/// Loopback endpoint. It admits requests addressed to this machine by its own name, not from web pages, and with the token.
#[derive(Clone, Debug)]
pub struct LoopbackPosts {
    access: Access,
    reading: Arc<Reading>,
}

/// Reason why a request gets no answer, sent as an HTTP error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unanswered(pub String);

impl LoopbackPosts {
    /// Creates an endpoint for clients with a token, whose requests have at most this number of bytes.
    #[must_use]
    pub fn new(token: Token, most_bytes: usize) -> Self {
        let reading = Arc::new(Reading::new(most_bytes, PATIENCE, 4 * most_bytes));
        Self { access: Access::new(Ipv4Addr::LOCALHOST.into()).token(token), reading }
    }

    /// Answers requests until dropped. `answer` receives the target and the body of a request and returns JSON. It is
    /// dropped if the client goes away.
    pub async fn serve<F, A>(self, listener: TcpListener, answer: F)
    where
        F: Fn(String, Vec<u8>) -> A + Clone + Send + Sync + 'static,
        A: Future<Output = Result<String, Unanswered>> + Send + 'static,
    {
        let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let mut connections = JoinSet::new();
        loop {
            let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
            while connections.try_join_next().is_some() {}
            match listener.accept().await {
                Ok((stream, _)) => {
                    let connection = self.clone().connection(stream, answer.clone());
                    connections.spawn(async move {
                        let _permit = permit;
                        connection.await;
                    });
                }
                Err(_) => sleep(PAUSE).await,
            }
        }
    }

    async fn connection<F, A>(self, stream: TcpStream, answer: F)
    where
        F: Fn(String, Vec<u8>) -> A + Sync,
        A: Future<Output = Result<String, Unanswered>> + Send,
    {
        let service = service_fn(|request| async {
            let answered = match self.read(request).await {
                Ok((target, body)) => answer(target, body).await.map_err(|Unanswered(why)| {
                    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, why, "the call is denied")
                }),
                Err(refused) => Err(refused),
            };
            Ok::<_, Infallible>(match answered {
                Ok(json) if !json.is_empty() => Body::json(StatusCode::OK, json),
                // Clients may take an empty answer for a successful one.
                Ok(_) => Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "no answer", "please report this").response(),
                Err(refused) => refused.response(),
            })
        });
        // The reason why a connection ended is the client's concern.
        let _ = http1(PATIENCE).serve_connection(TokioIo::new(stream), service).await;
    }

    /// Returns the target and body of a request that may be answered.
    async fn read(&self, request: Request<Incoming>) -> Result<(String, Vec<u8>), Refusal> {
        let (head, body) = request.into_parts();
        self.access.admit(&head.uri, &head.headers, false)?;
        if head.method != Method::POST {
            let reason = format!("`{}` is not supported", head.method);
            return Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, reason, "send a POST"));
        }
        check_content(&head.headers)?;
        let target = head.uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string);
        Ok((target, self.reading.read(body).await?.0))
    }
}

/// Time for the head of a request, and for its body.
const PATIENCE: Duration = Duration::from_secs(10);

/// Maximum number of connections at once. Further ones wait.
const MAX_CONNECTIONS: usize = 64;
