//! Responses to requests that were refused before anything was judged.

use hyper::header::{ALLOW, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};
use omen_base::bounded;
use serde_json::{Map, Value, json};

use super::body::Body;

/// Refusal: an HTTP status, and a JSON-RPC error with the reason and the help.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    code: i64,
    reason: String,
    help: String,
    /// Request id as written; `None` if unknown.
    id: Option<String>,
    /// Additional data of the error.
    data: Map<String, Value>,
}

/// Code for headers of a request that disagree with its body (2026-07-28).
pub(super) const HEADER_MISMATCH: i64 = -32_020;
/// Code for a protocol version that the server does not speak (2026-07-28).
const UNSUPPORTED_VERSION: i64 = -32_022;

impl Refusal {
    /// Creates a refusal whose code is that of the status, which is outside the ranges reserved by JSON-RPC and the protocol.
    pub(super) fn new(status: StatusCode, reason: impl AsRef<str>, help: impl Into<String>) -> Self {
        let code = i64::from(status.as_u16());
        Self { status, code, reason: bounded(reason.as_ref()), help: help.into(), id: None, data: Map::new() }
    }

    /// Creates the refusal of a request in a protocol version that the server does not speak.
    pub(super) fn unsupported(requested: &str, supported: &[&str]) -> Self {
        let requested = bounded(requested);
        let reason = format!("unsupported protocol version `{requested}`");
        let mut refused = Self::new(StatusCode::BAD_REQUEST, reason, format!("send {}", supported.join(", or ")));
        refused.data =
            Map::from_iter([("supported".to_owned(), json!(supported)), ("requested".to_owned(), requested.into())]);
        refused.code(UNSUPPORTED_VERSION)
    }

    /// Sets a code defined by the protocol.
    pub(super) fn code(self, code: i64) -> Self {
        Self { code, ..self }
    }

    /// Sets the id of the refused request.
    pub(super) fn with_id(self, raw_id: &str) -> Self {
        Self { id: Some(raw_id.to_owned()), ..self }
    }

    #[cfg(test)]
    pub(super) fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns one line for the operator.
    pub(super) fn note(&self) -> String {
        format!("refused a request with the status {}: {}", self.status.as_u16(), self.reason)
    }

    pub(super) fn response(self) -> Response<Body> {
        let message = format!("{}; {}", self.reason, self.help);
        let mut data = self.data;
        data.insert("reason".to_owned(), self.reason.into());
        data.insert("help".to_owned(), self.help.into());
        let error = json!({ "code": self.code, "message": message, "data": data });
        // The error for a request without an id, or with an unknown id, has no id.
        let id = self.id.map(|id| format!(",\"id\":{id}")).unwrap_or_default();
        let mut response = Body::json(self.status, format!("{{\"jsonrpc\":\"2.0\"{id},\"error\":{error}}}"));
        let more = match self.status {
            StatusCode::UNAUTHORIZED => Some((WWW_AUTHENTICATE, "Bearer")),
            StatusCode::METHOD_NOT_ALLOWED => Some((ALLOW, "GET, POST, DELETE")),
            StatusCode::SERVICE_UNAVAILABLE => Some((RETRY_AFTER, "5")),
            _ => None,
        };
        response.headers_mut().extend(more.map(|(name, value)| (name, HeaderValue::from_static(value))));
        response
    }
}
