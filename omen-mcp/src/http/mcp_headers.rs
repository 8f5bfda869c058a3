//! Headers that repeat parts of a message (2026-07-28), from clients and to servers.

use std::borrow::Cow;

use crate::edit;
use crate::frame::Frame;
use crate::json;
use crate::methods::{method_of, required_name};

/// Header with the session id.
pub const SESSION_ID: &str = "mcp-session-id";
/// Header with the protocol version.
pub const VERSION: &str = "mcp-protocol-version";
/// Header with the id of the last event that a client has read.
pub const LAST_EVENT_ID: &str = "last-event-id";
/// Header that repeats the method of a request.
pub const METHOD: &str = "mcp-method";
/// Header that repeats the name or URI that a request is about.
pub const NAME: &str = "mcp-name";
/// Prefix of headers that repeat an argument.
pub const PARAM: &str = "mcp-param-";

/// Returns the version stated in the `_meta` of a request that needs no handshake.
pub fn stated_version(frame: &Frame) -> Option<String> {
    json::text(frame.text(), edit::meta(frame, "io.modelcontextprotocol/protocolVersion")?)
}

/// Returns the value of `Mcp-Name`. Clients also send the header with methods that do not require it.
pub fn name_of(frame: &Frame) -> Option<String> {
    match required_name(method_of(frame)) {
        Some(key) => edit::text(frame, key),
        None => edit::text(frame, "name").or_else(|| edit::text(frame, "uri")),
    }
}

/// Decodes a value, which is encoded if a header cannot hold it as is.
pub fn decoded(value: &str) -> Option<String> {
    match value.strip_prefix(OPEN).and_then(|rest| rest.strip_suffix(CLOSE)) {
        None => Some(value.to_owned()),
        Some(encoded) => {
            let bytes = data_encoding::BASE64.decode(encoded.as_bytes()).ok()?;
            String::from_utf8(bytes).ok()
        }
    }
}

/// Encodes a value so that a header can hold it.
pub fn encoded(value: &str) -> Cow<'_, str> {
    let is_plain = value.bytes().all(|byte| matches!(byte, b' '..=b'~')) && value.trim() == value;
    let looks_encoded = value.starts_with(OPEN) && value.ends_with(CLOSE);
    if is_plain && !value.is_empty() && !looks_encoded {
        Cow::Borrowed(value)
    } else {
        Cow::Owned(format!("{OPEN}{}{CLOSE}", data_encoding::BASE64.encode(value.as_bytes())))
    }
}

const OPEN: &str = "=?base64?";
const CLOSE: &str = "?=";

#[cfg(test)]
mod tests {
    use super::{decoded, encoded};

    #[test]
    fn a_value_comes_back_from_a_header_as_it_was() {
        for (value, header) in [
            ("us-west1", "us-west1"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ] {
            assert_eq!(encoded(value), header);
            assert_eq!(decoded(header).as_deref(), Some(value));
        }
        assert_eq!(decoded(&encoded("")).as_deref(), Some(""));
        assert_eq!(decoded("=?base64?!?="), None);
    }
}
