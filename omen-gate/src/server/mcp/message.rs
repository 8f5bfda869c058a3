//! Line from a server, as a JSON-RPC 2.0 message.

use rmcp::model::RequestId;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::base::bounded;
use crate::base::json::strict::{self, Unread};

/// Message, as far as the gate reads it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Message {
    /// An answer to one of the gate's requests.
    Answer { id: i64, outcome: RpcResult },
    /// A request from the server.
    Request { id: RequestId, method: String },
    /// A notification. Only its name is kept.
    Notification { method: String },
}

/// Result of a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum RpcResult {
    /// The result as the server wrote it.
    Result(Map<String, Value>),
    /// A protocol error.
    Error(RpcError),
    /// A message that can be read in more than one way but identifies the request that it answers.
    Malformed(String),
}

/// Protocol error. Its `data` is not kept.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct RpcError {
    pub(super) code: i64,
    pub(super) message: String,
}

impl Message {
    /// Reads a line as a message.
    ///
    /// # Errors
    /// If the line is invalid. The text gives the reason and is bounded.
    pub(super) fn read(line: &[u8]) -> Result<Self, String> {
        // A serde struct could also be written as an array.
        if line.trim_ascii_start().first() != Some(&b'{') {
            return Err(format!("invalid message `{}`", bounded(&String::from_utf8_lossy(line))));
        }
        let frame = match strict::read(line) {
            Ok(frame) => frame,
            // A malformed frame that is not a request and names its request once affects only that request (D58).
            Err(Unread::Doubled(frame)) => {
                return match frame.once("id").and_then(Value::as_i64) {
                    Some(id) if !frame.has("method") => {
                        Ok(Self::Answer { id, outcome: RpcResult::Malformed(frame.why) })
                    }
                    _ => Err(format!("invalid message: {}", frame.why)),
                };
            }
            Err(Unread::Other(why)) => return Err(format!("invalid message: {why}")),
        };
        let raw: Raw = serde_json::from_value(Value::Object(frame))
            .map_err(|error| bounded(&format!("invalid message: {error}")))?;
        if raw.jsonrpc != "2.0" {
            return Err(format!("unsupported JSON-RPC version `{}`", bounded(&raw.jsonrpc)));
        }
        match (raw.method, raw.id, raw.result, raw.error) {
            (Some(method), Some(id), None, None) => Ok(Self::Request { id, method }),
            (Some(method), None, None, None) => Ok(Self::Notification { method }),
            (None, Some(RequestId::Number(id)), Some(result), None) => {
                Ok(Self::Answer { id, outcome: RpcResult::Result(result) })
            }
            (None, Some(RequestId::Number(id)), None, Some(error)) => {
                Ok(Self::Answer { id, outcome: RpcResult::Error(error) })
            }
            (None, Some(RequestId::String(id)), ..) => {
                Err(format!("a response to the unknown request `{}`", bounded(&id)))
            }
            (None, None, None, Some(error)) => {
                Err(format!("an error without a request id ({}): {}", error.code, bounded(&error.message)))
            }
            _ => Err("expected a request, a notification or a response".to_owned()),
        }
    }
}

/// Frame in which no key is repeated; `params` are skipped.
#[derive(Deserialize)]
struct Raw {
    jsonrpc: String,
    id: Option<RequestId>,
    method: Option<String>,
    result: Option<Map<String, Value>>,
    error: Option<RpcError>,
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests {
    use super::{Message, RpcResult};

    #[track_caller]
    fn refused(line: &str, why: &str) {
        let refusal = Message::read(line.as_bytes()).unwrap_err();
        assert!(refusal.contains(why), "{line}: {refusal}");
    }

    #[test]
    fn what_is_no_message_is_refused() {
        refused("Server listening", "invalid message `Server listening`");
        refused(r#"["2.0",1,null,{}]"#, "invalid message");
        refused(r#"{"jsonrpc":"2.0","id":1,"result":{}"#, "EOF");
        refused(r#"{"jsonrpc":"2.0","id":1,"id":2,"result":{}}"#, "duplicate field `id`");
        refused(r#"{"jsonrpc":"1.0","id":1,"result":{}}"#, "JSON-RPC version `1.0`");
        refused(r#"{"jsonrpc":"2.0","id":1,"result":[]}"#, "expected a map");
        refused(r#"{"jsonrpc":"2.0","id":1.5,"result":{}}"#, "invalid message");
        refused(r#"{"jsonrpc":"2.0","id":"1","result":{}}"#, "the unknown request `1`");
        refused(r#"{"jsonrpc":"2.0","id":1}"#, "expected a request, a notification or a response");
        refused(
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#,
            "expected a request, a notification or a response",
        );
        refused(r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"what?"}}"#, "(-32700): what?");
        // Reading it again would yield an array, of unlimited depth.
        let key = r#""$serde_json::private::RawValue":"[1]""#;
        refused(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"a":[{{{key}}}]}}}}"#), "is reserved");
        let escaped = key.replace("serde", "\\u0073erde");
        refused(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"a":[{{{escaped}}}]}}}}"#), "is reserved");
        let deep = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"a":{}}}}}"#, "[".repeat(1_000));
        refused(&deep, "recursion limit");
    }

    #[test]
    fn a_repeated_key_is_the_fault_of_the_request_that_it_answers() {
        for rest in [
            r#""id":7,"result":{},"result":{}"#,
            r#""id":7,"result":{},"re\u0073ult":{}"#,
            r#""id":7,"error":{"code":1,"code":2,"message":"m"}"#,
            r#""result":{"isError":true,"\u0069sError":false},"id":7"#,
            r#""id":7,"result":{"tools":[{"name":"a","inputSchema":{"type":{"a":1,"a":1}}}]}"#,
            r#""id":7,"jsonrpc":"2.0","result":{}"#,
            r#""id":7,"result":{},"_":0,"_":0"#,
        ] {
            let message = Message::read(format!(r#"{{"jsonrpc":"2.0",{rest}}}"#).as_bytes()).unwrap();
            let Message::Answer { id: 7, outcome: RpcResult::Malformed(why) } = message else { panic!("{message:?}") };
            assert!(why.starts_with("duplicate field `"), "{why}");
        }
        // It is unknown which request they answer, or they answer none.
        for rest in [
            r#""id":7,"\u0069d":8,"result":{}"#,
            r#""result":{"a":1,"a":2},"id":7,"id":7"#,
            r#""id":"7","result":{},"result":{}"#,
            r#""id":7,"method":"ping","params":{"a":1,"a":2}"#,
            r#""id":7,"method":"a","method":"b""#,
            r#""method":"notifications/tools/list_changed","params":{"_meta":[{"a":1,"a":1}]}"#,
            r#""method":"a","meth\u006fd":"notifications/tools/list_changed""#,
        ] {
            refused(&format!(r#"{{"jsonrpc":"2.0",{rest}}}"#), "invalid message: duplicate field `");
        }
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
