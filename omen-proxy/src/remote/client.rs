//! HTTP requests: how they are sent, and what their failures mean.

use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{HeaderName, HeaderValue, USER_AGENT};
use hyper::{HeaderMap, Method, Request, Response, Uri};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use omen_gate::Fault;
use omen_gate::config::{Endpoint, HeaderSource};
use tokio::time::timeout;
use tower_service::Service;
use zeroize::Zeroizing;

use super::error::BadRemote;
use super::limits::RemoteLimits;
use super::secrets::Secrets;

#[cfg(feature = "https")]
type Connector = hyper_rustls::HttpsConnector<HttpConnector>;
#[cfg(not(feature = "https"))]
type Connector = HttpConnector;

/// HTTP client for one address.
pub(super) struct Client {
    sender: legacy::Client<Timed<Connector>, Full<Bytes>>,
    uri: Uri,
    address: String,
    headers: HeaderMap,
    pub(super) secrets: Secrets,
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

impl Client {
    pub(super) fn new(endpoint: &Endpoint, limits: &RemoteLimits) -> Result<Self, BadRemote> {
        let uri: Uri = endpoint
            .url()
            .parse()
            .map_err(|error: hyper::http::uri::InvalidUri| BadRemote::Address { why: error.to_string() })?;
        let (headers, secrets) = headers(endpoint)?;
        let mut http = HttpConnector::new();
        http.set_connect_timeout(Some(limits.connect));
        http.set_keepalive(Some(ALIVE));
        http.set_nodelay(true);
        let connector = Timed { connector: encrypted(http, endpoint)?, limit: limits.connect };
        let mut builder = legacy::Client::builder(TokioExecutor::new());
        // If a request was not begun because its connection had just been closed, hyper returns it unchanged and it is
        // sent on another connection. A request that was begun is not sent again.
        builder.pool_idle_timeout(KEPT).pool_max_idle_per_host(MOST_KEPT).pool_timer(TokioTimer::new());
        builder.http1_max_buf_size(limits.head.max(LEAST_HEAD)).http1_max_headers(MOST_HEADERS);
        let sender = builder.build(connector);
        Ok(Self { sender, uri, address: endpoint.shown(), headers, secrets })
    }

    /// Returns the address without a query.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Sends a request once and waits for the head of its answer.
    pub(super) async fn send(
        &self,
        method: Method,
        headers: HeaderMap,
        body: Bytes,
        limit: Duration,
    ) -> Result<Response<Incoming>, Fault> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = self.uri.clone();
        let all = request.headers_mut();
        all.clone_from(&self.headers);
        all.extend(headers);
        match timeout(limit, self.sender.request(request)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) if error.is_connect() => Err(Fault::unreachable(&causes(&error))),
            Ok(Err(error)) => Err(Fault::died(&format!("the connection broke: {}", causes(&error)))),
            Err(_) => Err(Fault::Timeout { after: limit }),
        }
    }
}

#[cfg(feature = "https")]
fn encrypted(mut http: HttpConnector, endpoint: &Endpoint) -> Result<Connector, BadRemote> {
    http.enforce_http(false);
    let config = super::tls::config(endpoint)?;
    let builder = hyper_rustls::HttpsConnectorBuilder::new().with_tls_config(config);
    let builder = if endpoint.is_encrypted() { builder.https_only() } else { builder.https_or_http() };
    Ok(builder.enable_http1().wrap_connector(http))
}

#[cfg(not(feature = "https"))]
fn encrypted(http: HttpConnector, endpoint: &Endpoint) -> Result<Connector, BadRemote> {
    if endpoint.is_encrypted() {
        return Err(BadRemote::NotBuilt { address: endpoint.shown() });
    }
    Ok(http)
}

/// Returns the configured headers, and those of their values that are secret.
fn headers(endpoint: &Endpoint) -> Result<(HeaderMap, Secrets), BadRemote> {
    let (mut headers, mut secrets) = (HeaderMap::new(), Vec::new());
    headers.insert(USER_AGENT, HeaderValue::from_static(concat!("omen/", env!("CARGO_PKG_VERSION"))));
    for (name, source) in endpoint.headers() {
        let bad = |variable: &str| BadRemote::BadVariable { variable: variable.to_owned(), header: name.clone() };
        let value = match source {
            HeaderSource::Text(text) => HeaderValue::from_str(text).map_err(|_| bad(""))?,
            HeaderSource::Env { variable, prefix } => {
                let value = std::env::var(variable).map(Zeroizing::new).unwrap_or_default();
                let secret = value.trim();
                if secret.is_empty() {
                    return Err(BadRemote::NoVariable { variable: variable.clone(), header: name.clone() });
                }
                if !secret.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) {
                    return Err(bad(variable));
                }
                let whole = Zeroizing::new([prefix, secret].concat());
                let mut value = HeaderValue::from_str(&whole).map_err(|_| bad(variable))?;
                value.set_sensitive(true);
                // Without a scheme contained in the variable itself, which a server that repeats the secret may omit.
                let bare = secret.split_once(' ').map_or(secret, |(_, rest)| rest.trim_start());
                secrets.push(Zeroizing::new(bare.to_owned()));
                value
            }
        };
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad(""))?;
        headers.insert(name, value);
    }
    Ok((headers, Secrets::new(secrets)))
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
    if texts.is_empty() { error.to_string() } else { texts.join(": ") }
}

/// Connector with a time limit, which includes the handshake of the encryption.
#[derive(Clone, Debug)]
struct Timed<C> {
    connector: C,
    limit: Duration,
}

type Failed = Box<dyn Error + Send + Sync>;

impl<C> Service<Uri> for Timed<C>
where
    C: Service<Uri>,
    C::Response: Send,
    C::Error: Into<Failed>,
    C::Future: Send + 'static,
{
    type Response = C::Response;
    type Error = Failed;
    type Future = Pin<Box<dyn Future<Output = Result<C::Response, Failed>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Failed>> {
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
