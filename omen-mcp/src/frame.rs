//! Line as a JSON-RPC 2.0 message, with its bytes.

pub(crate) mod id;

use std::ops::Range;
use std::sync::Arc;

use omen_base::bounded;
use omen_schema::json::ScanError;

use self::id::Id;
use crate::json::{self, Flaw, Member};

/// Message that was read strictly and is kept byte for byte.
#[derive(Clone, Debug)]
pub struct Frame {
    text: Arc<str>,
    /// Form of the message.
    pub kind: Kind,
    id: Option<(Id, Range<usize>)>,
    /// `params`, `result` or `error`.
    body: Option<Range<usize>>,
}

/// Kind of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A request, with its method.
    Request(String),
    /// A notification, with its method.
    Notification(String),
    /// A response with a result.
    Result,
    /// A response with an error.
    Error,
    /// An invalid response that identifies only the request that it answers (D58). Holds the reason why it is invalid.
    Unsure(String),
}

/// Error for a line that is not a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// JSON-RPC error code.
    pub code: i64,
    /// Bounded description of the error.
    pub why: String,
    /// Same description without quotations from the line.
    pub unquoted: String,
}

impl Frame {
    /// Reads a line as a message.
    pub fn read(line: Vec<u8>) -> Result<Self, Malformed> {
        let text = String::from_utf8(line).map_err(|_| parse_error("invalid UTF-8".to_owned()))?;
        if text.trim_ascii_start().starts_with('[') {
            return Err(invalid("a batch is not supported; send one message per line"));
        }
        let text: Arc<str> = text.into();
        let (members, repeated) = json::members_noting(&text, 0..text.len()).map_err(|flaw| match flaw {
            Flaw::Invalid(ScanError::Syntax(..)) => parse_error(flaw.to_string()),
            _ => flawed(&flaw),
        })?;
        if let Some(other) = members.iter().find_map(|member| similar(&member.key, &OUTER)) {
            return Err(Malformed {
                unquoted: "a key differs from a known one only in case".to_owned(),
                ..invalid(other)
            });
        }
        let id = match once(&members, "id") {
            Once::Absent => None,
            Once::Here(span) => match Id::read(text.get(span.clone()).unwrap_or_default()) {
                Some(id) => Some((id, span)),
                None => return Err(invalid("invalid `id`; expected a string, or an integer within ±(2^53−1)")),
            },
            Once::Repeated => return Err(invalid("duplicate field `id`")),
        };
        if let Some(flaw) = repeated {
            let is_response = !members.iter().any(|member| member.key == "method");
            return match id {
                Some(id) if is_response => {
                    Ok(Self { kind: Kind::Unsure(flaw.to_string()), id: Some(id), body: None, text })
                }
                _ => Err(flawed(&flaw)),
            };
        }
        let get = |key: &str| members.iter().find(|member| member.key == key).map(|member| member.span.clone());
        if get("jsonrpc").and_then(|span| json::text(&text, span)).as_deref() != Some("2.0") {
            return Err(invalid("missing `\"jsonrpc\": \"2.0\"`"));
        }
        let method = match get("method") {
            None => None,
            Some(span) => match json::text(&text, span.clone()) {
                Some(method) => Some(method),
                None => {
                    return Err(invalid(format!("expected a string for `method`, found {}", json::name(&text, &span))));
                }
            },
        };
        let (kind, body) = match (method, &id, get("result"), get("error")) {
            (Some(method), Some(_), None, None) => (Kind::Request(method), get("params")),
            (Some(method), None, None, None) => (Kind::Notification(method), get("params")),
            (None, Some(_), Some(result), None) => (Kind::Result, Some(result)),
            (None, Some(_), None, Some(error)) => (Kind::Error, Some(error)),
            _ => return Err(invalid("expected a request, a notification or a response")),
        };
        if let Some(body) = &body
            && text.as_bytes().get(body.start) != Some(&b'{')
        {
            let what = if matches!(kind, Kind::Result | Kind::Error) { "result" } else { "params" };
            return Err(invalid(format!("expected an object for `{what}`, found {}", json::name(&text, body))));
        }
        drop(members);
        Ok(Self { kind, id, body, text })
    }

    /// Returns the message of a line that equals this one except for the id. Such a line need not be parsed again: the new id is
    /// a string without escapes, as long as the old one.
    pub fn again(&self, line: &[u8]) -> Option<Self> {
        let (_, span) = self.id.as_ref()?;
        let text = self.text.as_bytes();
        let is_same = line.len() == text.len()
            && line.get(..span.start) == text.get(..span.start)
            && line.get(span.end..) == text.get(span.end..);
        let raw = str::from_utf8(line.get(span.clone()).filter(|_| is_same)?).ok()?;
        let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
        let is_plain = inner.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'-'));
        let id = Id::read(raw).filter(|_| is_plain)?;
        let text = str::from_utf8(line).ok()?.into();
        Some(Self { kind: self.kind.clone(), id: Some((id, span.clone())), body: self.body.clone(), text })
    }

    /// Returns the bytes as received.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the id; notifications have none.
    pub fn id(&self) -> Option<&Id> {
        self.id.as_ref().map(|(id, _)| id)
    }

    /// Returns the id as written.
    pub fn raw_id(&self) -> &str {
        self.id.as_ref().and_then(|(_, span)| self.text.get(span.clone())).unwrap_or("null")
    }

    /// Returns the range of the id.
    pub fn id_span(&self) -> Option<Range<usize>> {
        self.id.as_ref().map(|(_, span)| span.clone())
    }

    /// Returns the range of `params`, `result` or `error`.
    pub fn body(&self) -> Option<Range<usize>> {
        self.body.clone()
    }

    /// Returns the members of `params`, `result` or `error`; empty if it is absent.
    pub fn members(&self) -> Result<Vec<Member<'_>>, Flaw> {
        self.body().map_or(Ok(Vec::new()), |body| json::members(&self.text, body))
    }

    /// Returns the id of the request that a notification names.
    pub fn requested(&self) -> Option<Id> {
        let members = self.members().ok()?;
        let member = members.iter().find(|member| member.key == "requestId")?;
        Id::read(self.raw(member.span.clone()))
    }

    /// Returns the text at a range.
    pub fn raw(&self, at: Range<usize>) -> &str {
        self.text.get(at).unwrap_or_default()
    }

    /// Returns the same bytes with a different id.
    pub fn with_id(&self, raw: &str) -> Vec<u8> {
        let Some((_, span)) = &self.id else { return self.text.as_bytes().to_vec() };
        let before = self.text.get(..span.start).unwrap_or_default();
        let after = self.text.get(span.end..).unwrap_or_default();
        [before, raw, after].concat().into_bytes()
    }
}

/// Returns a message if a key is not a known one but a lenient reader would take it for one.
pub fn similar(key: &str, known: &[&str]) -> Option<String> {
    if known.contains(&key) {
        return None;
    }
    let near = known.iter().find(|known| json::same_folded(known, key))?;
    Some(format!("the key `{}` differs from `{near}` only in case", bounded(key)))
}

/// Returns the response to a request that says why it failed.
pub fn error_response(raw_id: &str, code: i64, message: &str) -> Vec<u8> {
    let error = serde_json::json!({ "code": code, "message": bounded(message) });
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{raw_id},\"error\":{error}}}").into_bytes()
}

enum Once {
    Absent,
    Here(Range<usize>),
    Repeated,
}

fn once(members: &[Member<'_>], key: &str) -> Once {
    let mut spans = members.iter().filter(|member| member.key == key).map(|member| member.span.clone());
    match (spans.next(), spans.next()) {
        (None, _) => Once::Absent,
        (Some(span), None) => Once::Here(span),
        (Some(_), Some(_)) => Once::Repeated,
    }
}

fn parse_error(why: String) -> Malformed {
    Malformed { code: PARSE_ERROR, ..invalid(why) }
}

/// Builds an error whose description quotes nothing from the line.
fn invalid(why: impl AsRef<str>) -> Malformed {
    let why = bounded(why.as_ref());
    Malformed { code: INVALID_REQUEST, unquoted: why.clone(), why }
}

fn flawed(flaw: &Flaw) -> Malformed {
    Malformed { unquoted: flaw.unquoted(), ..invalid(flaw.to_string()) }
}

const OUTER: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];
/// JSON-RPC code for a message that is not JSON.
pub const PARSE_ERROR: i64 = -32_700;
/// JSON-RPC code for JSON that is not a message.
pub const INVALID_REQUEST: i64 = -32_600;
/// JSON-RPC code for a method that does not exist.
pub const METHOD_NOT_FOUND: i64 = -32_601;
/// JSON-RPC code for parameters that do not fit the method.
pub const INVALID_PARAMS: i64 = -32_602;
/// JSON-RPC code for a failure of the one who answers.
pub const INTERNAL_ERROR: i64 = -32_603;

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::id::Id;
    use super::{Frame, Kind};

    fn read(line: &str) -> Frame {
        Frame::read(line.as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn messages_are_read_and_keep_their_bytes() {
        let line = r#" {"params":{"x":99999999999999999999999,"y":1.0e2}, "method":"m" ,"id": "\u0061","jsonrpc":"2.0","more":[]} "#;
        let frame = read(line);
        assert_eq!((frame.text(), &frame.kind), (line, &Kind::Request("m".to_owned())));
        assert_eq!((frame.id(), frame.raw_id()), (Some(&Id::Text("a".into())), r#""\u0061""#));
        assert_eq!(String::from_utf8(frame.with_id("7")).unwrap(), line.replace(r#""\u0061""#, "7"));
        assert_eq!(read(r#"{"jsonrpc":"2.0","method":"m"}"#).kind, Kind::Notification("m".to_owned()));
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).kind, Kind::Result);
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":1,"error":{}}"#).kind, Kind::Error);
        let unsure = read(r#"{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}"#);
        assert_eq!(unsure.kind, Kind::Unsure("duplicate field `a`".to_owned()));
    }

    #[test]
    fn a_line_that_differs_in_its_id_is_as_if_it_were_read() {
        let last = read(r#"{"id":"omen-gate:41","jsonrpc":"2.0","result":{"id":"omen-gate:41","b":[1,2.50]}}"#);
        let mut same = 0;
        for at in 0..last.text().len() {
            for byte in 0..=u8::MAX {
                let mut line = last.text().as_bytes().to_vec();
                line[at] = byte;
                let Some(again) = last.again(&line) else { continue };
                let read = Frame::read(line).unwrap();
                assert_eq!((again.text(), &again.kind, again.id()), (read.text(), &read.kind, read.id()));
                assert_eq!((again.id_span(), again.body()), (read.id_span(), read.body()));
                same += 1;
            }
        }
        assert!(same > 12 * 60, "{same}");
        let longer = last.text().replacen("41", "410", 1);
        assert!(last.again(longer.as_bytes()).is_none());
    }

    #[test]
    fn what_is_not_one_message_is_refused() {
        for (line, code, why) in [
            ("Server listening", -32_700, "expected an object"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"m""#, -32_700, "unexpected end"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"m"}{}"#, -32_700, "unexpected text after"),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"m"}]"#, -32_600, "batch"),
            (r#"{"id":1,"method":"m"}"#, -32_600, "jsonrpc"),
            (r#"{"jsonrpc":2.0,"id":1,"method":"m"}"#, -32_600, "jsonrpc"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"m","method":"n"}"#, -32_600, "duplicate field `method`"),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"result":{}}"#, -32_600, "duplicate field `id`"),
            (r#"{"jsonrpc":"2.0","id":1,"\u0069d":1,"result":{}}"#, -32_600, "duplicate field `id`"),
            (r#"{"jsonrpc":"2.0","id":1,"Method":"n","method":"m"}"#, -32_600, "differs from `method`"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"m","paramſ":{}}"#, -32_600, "differs from `params`"),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#, -32_600, "invalid `id`"),
            (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, -32_600, "invalid `id`"),
            (r#"{"jsonrpc":"2.0","id":1,"method":["m"]}"#, -32_600, "expected a string for `method`, found an array"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}"#, -32_600, "`params`, found an array"),
            (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#, -32_600, "expected a request"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"m","result":{}}"#, -32_600, "expected a request"),
            (r#"{"jsonrpc":"2.0","result":{}}"#, -32_600, "expected a request"),
        ] {
            let malformed = Frame::read(line.as_bytes().to_vec()).unwrap_err();
            assert_eq!(malformed.code, code, "{line}");
            assert!(malformed.why.contains(why), "{line}: {}", malformed.why);
        }
        assert_eq!(Frame::read(b"{\"a\":\"\xFF\"}".to_vec()).unwrap_err().why, "invalid UTF-8");
    }
}
