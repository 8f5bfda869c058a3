//! One line of a server, as a message of JSON-RPC 2.0.

use rmcp::model::RequestId;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::bounded;
use crate::json::reserved;

/// A message, as far as the gate looks at it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Message {
    /// An answer to a request of ours.
    Answer { id: i64, outcome: Outcome },
    /// A request of the server.
    Request { id: RequestId, method: String },
    /// A notification. What it says beside its name is not kept.
    Notification { method: String },
}

/// What a request came to.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    /// The result, as the server wrote it.
    Result(Map<String, Value>),
    /// An error of the protocol.
    Error(RpcError),
}

/// An error of the protocol. Its `data` is not kept.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct RpcError {
    pub(super) code: i64,
    pub(super) message: String,
}

impl Message {
    /// Reads a line.
    ///
    /// # Errors
    /// If it is no message. The text says why, and is bounded.
    pub(super) fn read(line: &[u8]) -> Result<Self, String> {
        // A struct of serde's could be written as an array, too.
        if line.trim_ascii_start().first() != Some(&b'{') {
            return Err(format!("`{}` is no message", bounded(&String::from_utf8_lossy(line))));
        }
        reserved::refuse(line).map_err(|error| format!("no message: {error}"))?;
        let raw: Raw = serde_json::from_slice(line).map_err(|error| bounded(&format!("no message: {error}")))?;
        if raw.jsonrpc != "2.0" {
            return Err(format!("a message of JSON-RPC `{}`", bounded(&raw.jsonrpc)));
        }
        match (raw.method, raw.id, raw.result, raw.error) {
            (Some(method), Some(id), None, None) => Ok(Self::Request { id, method }),
            (Some(method), None, None, None) => Ok(Self::Notification { method }),
            (None, Some(RequestId::Number(id)), Some(result), None) => {
                Ok(Self::Answer { id, outcome: Outcome::Result(result) })
            }
            (None, Some(RequestId::Number(id)), None, Some(error)) => {
                Ok(Self::Answer { id, outcome: Outcome::Error(error) })
            }
            (None, Some(RequestId::String(id)), ..) => {
                Err(format!("an answer to `{}`, which was not asked", bounded(&id)))
            }
            (None, None, None, Some(error)) => {
                Err(format!("an error that answers no request ({}): {}", error.code, bounded(&error.message)))
            }
            _ => Err("a message that is neither request, nor notification, nor answer".to_owned()),
        }
    }
}

/// A member that is repeated is refused by the derived reader; `params` are passed over.
#[derive(Deserialize)]
struct Raw {
    jsonrpc: String,
    id: Option<RequestId>,
    method: Option<String>,
    result: Option<Map<String, Value>>,
    error: Option<RpcError>,
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::Message;

    #[track_caller]
    fn refused(line: &str, why: &str) {
        let refusal = Message::read(line.as_bytes()).unwrap_err();
        assert!(refusal.contains(why), "{line}: {refusal}");
    }

    #[test]
    fn what_is_no_message_is_refused() {
        refused("Server listening", "`Server listening` is no message");
        refused(r#"["2.0",1,null,{}]"#, "is no message");
        refused(r#"{"jsonrpc":"2.0","id":1,"result":{}"#, "EOF");
        refused(r#"{"jsonrpc":"2.0","id":1,"id":2,"result":{}}"#, "duplicate field `id`");
        refused(r#"{"jsonrpc":"1.0","id":1,"result":{}}"#, "JSON-RPC `1.0`");
        refused(r#"{"jsonrpc":"2.0","id":1,"result":[]}"#, "expected a map");
        refused(r#"{"jsonrpc":"2.0","id":1.5,"result":{}}"#, "no message");
        refused(r#"{"jsonrpc":"2.0","id":"1","result":{}}"#, "`1`, which was not asked");
        refused(r#"{"jsonrpc":"2.0","id":1}"#, "neither");
        refused(r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#, "neither");
        refused(r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"what?"}}"#, "(-32700): what?");
        // Read once more, it would be an array, and as deep as it likes.
        let key = r#""$serde_json::private::RawValue":"[1]""#;
        refused(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"a":[{{{key}}}]}}}}"#), "is reserved");
        let escaped = key.replace("serde", "\\u0073erde");
        refused(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"a":[{{{escaped}}}]}}}}"#), "is reserved");
        let deep = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"a":{}}}}}"#, "[".repeat(1_000));
        refused(&deep, "recursion limit");
    }

    #[test]
    fn messages_are_read() {
        let read = |line: &str| Message::read(line.as_bytes()).unwrap();
        assert!(matches!(read(r#"{"jsonrpc":"2.0","id":7,"result":{"x":1}}"#), Message::Answer { id: 7, .. }));
        assert!(matches!(
            read(r#"{"jsonrpc":"2.0","id":7,"error":{"code":5,"message":"m","data":[]}}"#),
            Message::Answer { .. }
        ));
        assert!(matches!(read(r#"{"jsonrpc":"2.0","id":"a","method":"roots/list"}"#), Message::Request { .. }));
        assert!(matches!(read(r#"{"jsonrpc":"2.0","method":"m","params":{"a":[1]}}"#), Message::Notification { .. }));
    }
}
