//! What a client reads of a request that was refused before anything was judged.

use bytes::Bytes;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};
use omen_gate::bounded;
use serde_json::{Map, Value, json};

use super::body::Body;

/// A refusal: an HTTP status, and an error of JSON-RPC with the reason and the way out.
#[derive(Debug)]
pub(super) struct Refused {
    status: StatusCode,
    code: i64,
    reason: String,
    help: String,
    /// The id of the request, as it was written; none if it is not known.
    id: Option<String>,
    /// What the error says besides.
    data: Map<String, Value>,
}

/// The headers of a request disagree with its body (2026-07-28).
pub(super) const HEADER_MISMATCH: i64 = -32_020;
/// The version of the protocol is none of those that the proxy speaks (2026-07-28).
const UNSUPPORTED_VERSION: i64 = -32_022;

impl Refused {
    /// The code is that of the status: it is outside of those that JSON-RPC and the protocol keep for themselves.
    pub(super) fn new(status: StatusCode, reason: impl AsRef<str>, help: impl Into<String>) -> Self {
        let code = i64::from(status.as_u16());
        Self { status, code, reason: bounded(reason.as_ref()), help: help.into(), id: None, data: Map::new() }
    }

    /// A request in a version of the protocol that the proxy does not speak.
    pub(super) fn unsupported(requested: &str, supported: &[&str]) -> Self {
        let requested = bounded(requested);
        let reason = format!("unsupported protocol version `{requested}`");
        let mut refused = Self::new(StatusCode::BAD_REQUEST, reason, format!("send {}", supported.join(", or ")));
        refused.data =
            Map::from_iter([("supported".to_owned(), json!(supported)), ("requested".to_owned(), requested.into())]);
        refused.code(UNSUPPORTED_VERSION)
    }

    /// The same with a code of the protocol.
    pub(super) fn code(self, code: i64) -> Self {
        Self { code, ..self }
    }

    /// The same for a request with this id.
    pub(super) fn of(self, raw_id: &str) -> Self {
        Self { id: Some(raw_id.to_owned()), ..self }
    }

    #[cfg(test)]
    pub(super) fn status(&self) -> StatusCode {
        self.status
    }

    /// One line for the operator.
    pub(super) fn note(&self) -> String {
        format!("refused a request with the status {}: {}", self.status.as_u16(), self.reason)
    }

    pub(super) fn response(self) -> Response<Body> {
        let message = format!("{}; {}", self.reason, self.help);
        let mut data = self.data;
        data.insert("reason".to_owned(), self.reason.into());
        data.insert("help".to_owned(), self.help.into());
        let error = json!({ "code": self.code, "message": message, "data": data });
        // The error of a request that has no id, or whose id is not known, has none.
        let id = self.id.map(|id| format!(",\"id\":{id}")).unwrap_or_default();
        let text = format!("{{\"jsonrpc\":\"2.0\"{id},\"error\":{}}}", error);
        let mut response = Response::new(Body::whole(Bytes::from(text)));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, super::body::JSON);
        let more = match self.status {
            StatusCode::UNAUTHORIZED => Some((WWW_AUTHENTICATE, "Bearer")),
            StatusCode::METHOD_NOT_ALLOWED => Some((ALLOW, "GET, POST, DELETE")),
            StatusCode::SERVICE_UNAVAILABLE => Some((RETRY_AFTER, "5")),
            _ => None,
        };
        headers.extend(more.map(|(name, value)| (name, HeaderValue::from_static(value))));
        response
    }
}
