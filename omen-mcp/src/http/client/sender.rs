//! HTTP requests: how they are sent, and what their failures mean.

use std::error::Error;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::http::uri::{InvalidUri, Scheme};
use hyper::{HeaderMap, Method, Request, Response, Uri};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
#[cfg(not(feature = "https"))]
use hyper_util::client::legacy::connect::HttpConnector as Connector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use omen_base::bounded;
use tokio::time::timeout;
use tower_service::Service;

use super::error::{BadRemote, RequestError};
use super::extra_headers::SentHeaders;
use super::limits::RemoteLimits;

#[cfg(feature = "https")]
type Connector = hyper_rustls::HttpsConnector<HttpConnector>;

/// HTTP client for one address.
pub(super) struct Sender {
    client: legacy::Client<TimedConnector<Connector>, Full<Bytes>>,
    pub(super) uri: Uri,
    pub(super) headers: SentHeaders,
}

/// Time that an idle connection is kept. Servers close theirs after five seconds or more; a request sent at that moment
/// would be in doubt.
const KEPT: Duration = Duration::from_secs(3);
/// Maximum number of idle connections kept.
const MOST_KEPT: usize = 16;
/// Interval of keep-alive probes on an idle connection.
const ALIVE: Duration = Duration::from_secs(60);
/// Maximum number of headers in an answer.
const MOST_HEADERS: usize = 100;
/// Minimum buffer that hyper accepts for the head of an answer.
const LEAST_HEAD: usize = 8 << 10;

impl Sender {
    pub(super) fn new(
        url: &str,
        ca_file: Option<&Path>,
        headers: SentHeaders,
        limits: &RemoteLimits,
    ) -> Result<Self, BadRemote> {
        let uri: Uri = url.parse().map_err(|error: InvalidUri| BadRemote::Address(error.to_string()))?;
        let mut http = HttpConnector::new();
        http.set_connect_timeout(Some(limits.connect));
        http.set_keepalive(Some(ALIVE));
        http.set_nodelay(true);
        let connector = TimedConnector { connector: encrypted(http, &uri, ca_file)?, limit: limits.connect };
        let mut builder = legacy::Client::builder(TokioExecutor::new());
        // If a request was not begun because its connection had just been closed, hyper returns it unchanged and it is
        // sent on another connection. A request that was begun is not sent again.
        builder.pool_idle_timeout(KEPT).pool_max_idle_per_host(MOST_KEPT).pool_timer(TokioTimer::new());
        builder.http1_max_buf_size(limits.head.max(LEAST_HEAD)).http1_max_headers(MOST_HEADERS);
        Ok(Self { client: builder.build(connector), uri, headers })
    }

    /// Sends a request once and waits for the head of its answer.
    pub(super) async fn send(
        &self,
        method: Method,
        headers: HeaderMap,
        body: Bytes,
        limit: Duration,
    ) -> Result<Response<Incoming>, RequestError> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = self.uri.clone();
        let all = request.headers_mut();
        all.clone_from(&self.headers.values);
        all.extend(headers);
        match timeout(limit, self.client.request(request)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) if error.is_connect() => Err(RequestError::NotSent(causes(&error))),
            Ok(Err(error)) => Err(RequestError::Died(format!("the connection broke: {}", causes(&error)))),
            Err(_) => Err(RequestError::Timeout(limit)),
        }
    }
}

#[cfg(feature = "https")]
fn encrypted(mut http: HttpConnector, uri: &Uri, ca_file: Option<&Path>) -> Result<Connector, BadRemote> {
    http.enforce_http(false);
    let config = super::tls::config(is_encrypted(uri), ca_file)?;
    let builder = hyper_rustls::HttpsConnectorBuilder::new().with_tls_config(config);
    let builder = if is_encrypted(uri) { builder.https_only() } else { builder.https_or_http() };
    Ok(builder.enable_http1().wrap_connector(http))
}

#[cfg(not(feature = "https"))]
fn encrypted(http: HttpConnector, uri: &Uri, _: Option<&Path>) -> Result<Connector, BadRemote> {
    if is_encrypted(uri) {
        return Err(BadRemote::NotBuilt(address(uri)));
    }
    Ok(http)
}

fn is_encrypted(uri: &Uri) -> bool {
    uri.scheme() == Some(&Scheme::HTTPS)
}

/// Returns an address without its query, which may contain a secret.
pub(super) fn address(uri: &Uri) -> String {
    bounded(uri.to_string().split('?').next().unwrap_or_default())
}

/// Returns the causes of an error, from the library's down to the system's.
pub(super) fn causes(error: &dyn Error) -> String {
    let mut texts = Vec::new();
    let mut cause = error.source();
    while let Some(error) = cause {
        texts.push(error.to_string());
        cause = error.source();
    }
    texts.dedup();
    bounded(&if texts.is_empty() { error.to_string() } else { texts.join(": ") })
}

/// Connector with a time limit, which includes the handshake of the encryption.
#[derive(Clone, Debug)]
struct TimedConnector<C> {
    connector: C,
    limit: Duration,
}

type BoxError = Box<dyn Error + Send + Sync>;

impl<C> Service<Uri> for TimedConnector<C>
where
    C: Service<Uri>,
    C::Response: Send,
    C::Error: Into<BoxError>,
    C::Future: Send + 'static,
{
    type Response = C::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<C::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.connector.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let (connecting, limit) = (self.connector.call(uri), self.limit);
        Box::pin(async move {
            match timeout(limit, connecting).await {
                Ok(connected) => connected.map_err(Into::into),
                Err(_) => Err(format!("no connection within {limit:?}").into()),
            }
        })
    }
}
