//! Request headers, and the parts of the body that they repeat.

use hyper::header::{ACCEPT, AsHeaderName, CONTENT_ENCODING, CONTENT_TYPE};
use hyper::{HeaderMap, StatusCode};
use omen_base::bounded;
use serde_json::Value;

use super::refusal::{HEADER_MISMATCH, Refusal};
use crate::edit::{member, meta};
use crate::frame::{Frame, INVALID_PARAMS, Kind, METHOD_NOT_FOUND};
pub(super) use crate::http::mcp_headers::{LAST_EVENT_ID, SESSION_ID, VERSION};
use crate::http::mcp_headers::{METHOD, NAME, PARAM, decoded, name_of, stated_version};
use crate::http::{self, MediaType};
use crate::json;
use crate::methods::{INITIALIZE, method_of, required_name};

/// Returns the value of a header that occurs at most once.
pub(super) fn single(headers: &HeaderMap, name: impl AsHeaderName) -> Result<Option<&str>, Refusal> {
    http::single(headers, name)
        .map_err(|reason| Refusal::new(StatusCode::BAD_REQUEST, reason, "send it once, in visible ASCII"))
}

/// Checks that the body has the type required by the protocol.
pub(super) fn check_content(headers: &HeaderMap) -> Result<(), Refusal> {
    let refused = |reason: String| {
        Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason, "send one message as `application/json` in UTF-8")
    };
    let media = single(headers, CONTENT_TYPE)?.ok_or_else(|| refused("missing header `Content-Type`".to_owned()))?;
    if MediaType::read(media) != Some(MediaType::Json) {
        return Err(refused(format!("the content type `{}` is not supported", bounded(media))));
    }
    match single(headers, CONTENT_ENCODING)? {
        Some(encoding) if !encoding.eq_ignore_ascii_case("identity") => {
            Err(refused(format!("the content encoding `{}` is not supported", bounded(encoding))))
        }
        _ => Ok(()),
    }
}

/// Checks that the client accepts each of these types.
pub(super) fn check_accept(headers: &HeaderMap, needed: &[&str]) -> Result<(), Refusal> {
    let values: Vec<_> = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    let taken: Vec<_> = values
        .iter()
        .flat_map(|value| value.split(','))
        .map(|range| range.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
        .collect();
    let takes = |media: &&&str| {
        let group = media.split('/').next().unwrap_or_default();
        taken.iter().any(|range| range == **media || range == "*/*" || *range == format!("{group}/*"))
    };
    match needed.iter().find(|media| !takes(media)) {
        None => Ok(()),
        Some(missing) => {
            let reason = format!("the header `Accept` does not list `{missing}`");
            let help = format!("send `Accept: {}`", needed.join(", "));
            Err(Refusal::new(StatusCode::NOT_ACCEPTABLE, reason, help))
        }
    }
}

/// Statements of a request in the era without a handshake (2026-07-28).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Modern {
    version: String,
    declares: bool,
}

impl Modern {
    /// Reads the members of `_meta` that replace a handshake; `None` if the version is not among them.
    pub(super) fn from_frame(frame: &Frame) -> Option<Self> {
        let version = stated_version(frame)?;
        let declared = meta(frame, "io.modelcontextprotocol/clientCapabilities");
        let declares = declared.is_some_and(|span| frame.raw(span).starts_with('{'));
        Some(Self { version, declares })
    }

    /// Checks the version and the headers that such a request must have.
    pub(super) fn check(&self, frame: &Frame, headers: &HeaderMap) -> Result<(), Refusal> {
        let mismatch = |reason: String| mismatch(reason).with_id(frame.raw_id());
        match single(headers, VERSION)? {
            Some(version) if version == self.version => {}
            Some(version) => {
                return Err(mismatch(format!(
                    "the header `MCP-Protocol-Version` says `{}`, but the body says `{}`",
                    bounded(version),
                    bounded(&self.version)
                )));
            }
            None => return Err(mismatch("missing header `MCP-Protocol-Version`".to_owned())),
        }
        // It is unknown here what a later version means by a request, so it cannot be judged.
        if !STATELESS.contains(&self.version.as_str()) {
            return Err(Refusal::unsupported(&self.version, &STATELESS).with_id(frame.raw_id()));
        }
        if method_of(frame) == Some(INITIALIZE) {
            let reason = format!("there is no handshake in {}", self.version);
            let help = "send requests without one, or `initialize` without the version in `_meta`";
            let refused = Refusal::new(StatusCode::NOT_FOUND, reason, help);
            return Err(refused.code(METHOD_NOT_FOUND).with_id(frame.raw_id()));
        }
        if single(headers, METHOD)?.is_none() {
            return Err(mismatch("missing header `Mcp-Method`".to_owned()));
        }
        if required_name(method_of(frame)).is_some() && single(headers, NAME)?.is_none() {
            return Err(mismatch("missing header `Mcp-Name`".to_owned()));
        }
        if !self.declares {
            let reason = "missing field `io.modelcontextprotocol/clientCapabilities` in `_meta`";
            let refused = Refusal::new(StatusCode::BAD_REQUEST, reason, "send it, e.g. as `{}`");
            return Err(refused.code(INVALID_PARAMS).with_id(frame.raw_id()));
        }
        Ok(())
    }
}

/// Returns whether the header names a version in which each request states in `_meta` what a handshake would.
pub(super) fn is_stateless(headers: &HeaderMap) -> Result<bool, Refusal> {
    Ok(single(headers, VERSION)?.is_some_and(|version| STATELESS.contains(&version)))
}

/// Versions without a handshake.
const STATELESS: [&str; 1] = ["2026-07-28"];

/// Checks that headers which repeat parts of the body agree with it, if they are present: intermediaries may have relied on
/// them.
pub(super) fn check_mirrored(frame: &Frame, headers: &HeaderMap) -> Result<(), Refusal> {
    let is_request = matches!(frame.kind, Kind::Request(_));
    let with_id = |refused: Refusal| if is_request { refused.with_id(frame.raw_id()) } else { refused };
    let method = method_of(frame);
    if let Some(said) = single(headers, METHOD).map_err(with_id)?
        && method != Some(said)
    {
        let reason = format!("the header `Mcp-Method` says `{}`, but the body says `{}`", bounded(said), shown(method));
        return Err(with_id(mismatch(reason)));
    }
    if let Some(said) = single(headers, NAME).map_err(with_id)? {
        let name = name_of(frame);
        let decoded = decoded(said);
        if decoded.is_none() || decoded != name {
            let name = shown(name.as_deref());
            let reason = format!("the header `Mcp-Name` says `{}`, but the body says `{name}`", bounded(said));
            return Err(with_id(mismatch(reason)));
        }
    }
    for name in headers.keys().filter(|name| name.as_str().starts_with(PARAM)) {
        let said = single(headers, name).map_err(with_id)?.unwrap_or_default();
        if !decoded(said).is_some_and(|value| is_an_argument(frame, &value)) {
            let (name, said) = (bounded(name.as_str()), bounded(said));
            let reason = format!("the header `{name}` says `{said}`, but no argument in the body does");
            return Err(with_id(mismatch(reason)));
        }
    }
    Ok(())
}

/// Checks that the headers repeat the arguments specified by the tool's schema: `wanted` are the headers from the schema.
pub(super) fn check_params(
    frame: &Frame,
    headers: &HeaderMap,
    wanted: Result<HeaderMap, String>,
) -> Result<(), Refusal> {
    let mismatch = |reason: String| mismatch(reason).with_id(frame.raw_id());
    for (name, value) in &wanted.map_err(mismatch)? {
        let Some(said) = single(headers, name)? else { return Err(mismatch(format!("missing header `{name}`"))) };
        // INVARIANT: the value was created from text.
        let value = value.to_str().ok().and_then(decoded);
        let decoded = decoded(said);
        if decoded.is_none() || decoded != value {
            let (said, value) = (bounded(said), shown(value.as_deref()));
            return Err(mismatch(format!("the header `{name}` says `{said}`, but the body says `{value}`")));
        }
    }
    Ok(())
}

/// Returns whether an argument of a call has this value. The tool's schema says which argument a header repeats; a header must
/// not have a value that no argument has.
fn is_an_argument(frame: &Frame, value: &str) -> bool {
    let args = member(frame, "arguments").and_then(|span| json::object(frame.text(), span).ok());
    args.is_some_and(|args| args.values().any(|argument| says(argument, value)))
}

fn says(argument: &Value, value: &str) -> bool {
    match argument {
        Value::String(text) => text == value,
        Value::Bool(yes) => value == if *yes { "true" } else { "false" },
        // Whole numbers have several spellings.
        Value::Number(number) => {
            let whole = |text: &str| text.parse::<i64>().ok().or_else(|| text.strip_suffix(".0")?.parse().ok());
            let number = number.to_string();
            number == value || whole(&number).is_some_and(|number| whole(value) == Some(number))
        }
        // Parameters within objects may be repeated too; items of arrays may not.
        Value::Object(members) => members.values().any(|argument| says(argument, value)),
        Value::Null | Value::Array(_) => false,
    }
}

fn mismatch(reason: String) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, reason, "send headers that match the body").code(HEADER_MISMATCH)
}

fn shown(text: Option<&str>) -> String {
    text.map_or_else(|| "nothing".to_owned(), bounded)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use hyper::HeaderMap;

    use super::{Modern, check_accept, check_content, check_mirrored, check_params, single};
    use crate::frame::Frame;

    fn map(headers: &[(&'static str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        map
    }

    fn frame(method: &str, params: &str) -> Frame {
        let line = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{params}}}"#);
        Frame::read(line.into_bytes()).unwrap()
    }

    #[test]
    fn a_header_that_stands_twice_is_none_that_can_be_believed() {
        assert_eq!(single(&map(&[("a", "b")]), "a").unwrap(), Some("b"));
        assert_eq!(single(&map(&[]), "a").unwrap(), None);
        assert_eq!(single(&map(&[("a", "b"), ("a", "b")]), "a").unwrap_err().status(), 400);
        let mut strange = HeaderMap::new();
        strange.insert("a", hyper::header::HeaderValue::from_bytes(b"\xFF").unwrap());
        assert_eq!(single(&strange, "a").unwrap_err().status(), 400);
    }

    #[test]
    fn only_json_in_utf8_is_read() {
        for good in ["application/json", "Application/JSON; charset=\"UTF-8\"", "application/json;charset=utf-8; x=y"] {
            assert!(check_content(&map(&[("content-type", good)])).is_ok(), "{good}");
        }
        for bad in ["text/plain", "application/jsonx", "application/json; charset=utf-16", ""] {
            assert_eq!(check_content(&map(&[("content-type", bad)])).unwrap_err().status(), 415, "{bad}");
        }
        let zipped = map(&[("content-type", "application/json"), ("content-encoding", "gzip")]);
        assert_eq!(check_content(&zipped).unwrap_err().status(), 415);
        assert_eq!(check_content(&map(&[])).unwrap_err().status(), 415);
        let both = ["application/json", "text/event-stream"];
        for good in ["application/json, text/event-stream", "*/*", "text/*;q=0.5, Application/JSON"] {
            assert!(check_accept(&map(&[("accept", good)]), &both).is_ok(), "{good}");
        }
        for bad in ["application/json", "text/event-stream", "text/html", ""] {
            assert_eq!(check_accept(&map(&[("accept", bad)]), &both).unwrap_err().status(), 406, "{bad}");
        }
    }

    #[test]
    fn headers_say_what_the_body_says() {
        let call = frame("tools/call", r#"{"name":"r\u00e9ad","uri":"x"}"#);
        for good in [
            &[][..],
            &[("mcp-method", "tools/call")],
            &[("mcp-method", "tools/call"), ("mcp-name", "=?base64?csOpYWQ=?=")],
        ] {
            assert!(check_mirrored(&call, &map(good)).is_ok(), "{good:?}");
        }
        for bad in [
            &[("mcp-method", "tools/list")][..],
            &[("mcp-method", "Tools/call")],
            &[("mcp-name", "read")],
            &[("mcp-name", "x")],
            &[("mcp-name", "=?base64?csOpYWQ?=")],
            &[("mcp-name", "=?base64?!?=")],
            &[("mcp-method", "tools/call"), ("mcp-method", "tools/call")],
        ] {
            assert_eq!(check_mirrored(&call, &map(bad)).unwrap_err().status(), 400, "{bad:?}");
        }
        let read = frame("resources/read", r#"{"uri":"file:///a","name":"b"}"#);
        assert!(check_mirrored(&read, &map(&[("mcp-name", "file:///a")])).is_ok());
        assert!(check_mirrored(&read, &map(&[("mcp-name", "b")])).is_err());
        let args =
            r#"{"name":"a","arguments":{"region":"us-west1","in":{"n":42,"yes":true},"list":["x"],"none":null}}"#;
        let call = frame("tools/call", args);
        for good in ["us-west1", "42", "42.0", "true", "=?base64?dXMtd2VzdDE=?="] {
            assert!(check_mirrored(&call, &map(&[("mcp-param-region", good)])).is_ok(), "{good}");
        }
        for bad in ["us-west2", "US-WEST1", "43", "x", "null", "", "=?base64?!?="] {
            assert_eq!(check_mirrored(&call, &map(&[("mcp-param-region", bad)])).unwrap_err().status(), 400, "{bad}");
        }
        let twice = map(&[("mcp-param-region", "us-west1"), ("mcp-param-region", "us-west1")]);
        assert!(check_mirrored(&call, &twice).is_err());
        let other = frame("logging/setLevel", r#"{"level":"x"}"#);
        assert!(check_mirrored(&other, &map(&[("mcp-name", "x")])).is_err());
    }

    #[test]
    fn headers_repeat_the_arguments_that_the_schema_says() {
        let call = frame("tools/call", r#"{"name":"a","arguments":{"region":" \u00e9","other":"x"}}"#);
        let wanted = || Ok(map(&[("mcp-param-region", "=?base64?IMOp?=")]));
        assert!(check_params(&call, &map(&[("mcp-param-region", "=?base64?IMOp?=")]), wanted()).is_ok());
        for bad in [&[][..], &[("mcp-param-region", "x")], &[("mcp-param-region", "=?base64?!?=")]] {
            assert_eq!(check_params(&call, &map(bad), wanted()).unwrap_err().status(), 400, "{bad:?}");
        }
        assert!(check_params(&call, &map(&[]), Ok(map(&[]))).is_ok());
        assert!(check_params(&call, &map(&[]), Err("its schema cannot be followed".to_owned())).is_err());
    }

    #[test]
    fn a_request_without_a_handshake_has_all_headers() {
        let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
        let call = frame("tools/call", &format!(r#"{{"name":"a",{meta}}}"#));
        let modern = Modern::from_frame(&call).unwrap();
        let all = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "a")];
        assert!(modern.check(&call, &map(&all)).is_ok());
        for left_out in 0..3 {
            let some: Vec<_> = all.iter().enumerate().filter(|(at, _)| *at != left_out).map(|(_, it)| *it).collect();
            assert_eq!(modern.check(&call, &map(&some)).unwrap_err().status(), 400, "{some:?}");
        }
        let other = [("mcp-protocol-version", "2025-11-25"), all[1], all[2]];
        assert_eq!(modern.check(&call, &map(&other)).unwrap_err().status(), 400);
        let list = frame("tools/list", &format!("{{{meta}}}"));
        assert!(Modern::from_frame(&list).unwrap().check(&list, &map(&[all[0], ("mcp-method", "tools/list")])).is_ok());
        // A handshake has no place in this era, and a later version cannot be judged.
        let first = frame("initialize", &format!("{{{meta}}}"));
        let refused = Modern::from_frame(&first).unwrap().check(&first, &map(&[all[0], ("mcp-method", "initialize")]));
        assert_eq!(refused.unwrap_err().status(), 404);
        let later = frame("tools/list", &format!("{{{}}}", meta.replace("2026-07-28", "2027-01-01")));
        let headers = map(&[("mcp-protocol-version", "2027-01-01"), ("mcp-method", "tools/list")]);
        let refused = Modern::from_frame(&later).unwrap().check(&later, &headers).unwrap_err();
        assert_eq!(refused.status(), 400);
        assert!(refused.note().contains("unsupported protocol version `2027-01-01`"), "{}", refused.note());
        let silent = frame("tools/list", &format!("{{{}}}", meta.replace("clientCapabilities\":{}", "x\":1")));
        let refused =
            Modern::from_frame(&silent).unwrap().check(&silent, &map(&[all[0], ("mcp-method", "tools/list")]));
        assert_eq!(refused.unwrap_err().status(), 400);
        assert_eq!(Modern::from_frame(&frame("tools/list", "{}")), None);
    }
}
