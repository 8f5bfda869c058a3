//! Content of an answer, and how it is read.

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::HeaderMap;
use hyper::body::{Body as _, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use omen_gate::{Fault, bounded};

use super::room::Held;
use super::secrets::Secrets;
use omen_mcp::frame::Frame;

/// Form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A single message.
    Json,
    /// A stream of messages.
    Events,
}

/// Returns the form of an answer according to its headers.
pub(super) fn form(headers: &HeaderMap) -> Result<Form, Fault> {
    let mut codings = headers.get_all(CONTENT_ENCODING).iter();
    if let Some(coding) = codings.find(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        let coding = bounded(&String::from_utf8_lossy(coding.as_bytes()));
        return Err(Fault::malformed(&format!("the content encoding `{coding}` was not requested")));
    }
    let media =
        single(headers, CONTENT_TYPE.as_str())?.ok_or_else(|| Fault::malformed("missing header `Content-Type`"))?;
    let mut parts = media.split(';').map(str::trim);
    let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
    let is_utf8 = parts.all(|part| match part.split_once('=') {
        Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => {
            value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
        }
        _ => true,
    });
    match kind.as_str() {
        "application/json" if is_utf8 => Ok(Form::Json),
        "text/event-stream" if is_utf8 => Ok(Form::Events),
        _ => {
            Err(Fault::malformed(&format!("the content type `{}` is not one that the protocol allows", bounded(media))))
        }
    }
}

/// Returns the value of a header that occurs at most once.
pub(super) fn single<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h str>, Fault> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => {
            value.to_str().map(Some).map_err(|_| Fault::malformed(&format!("invalid header `{name}`")))
        }
        (Some(_), Some(_)) => Err(Fault::malformed(&format!("repeated header `{name}`"))),
    }
}

/// Returns a text as the value of a header that is never shown.
pub(super) fn hidden(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Reads a whole body.
pub(super) async fn whole(mut body: Incoming, limit: usize, held: &mut Held) -> Result<Vec<u8>, Fault> {
    // An overlong body does not show whether the tool ran, so this is not the fault for an overlong answer.
    let oversized = || Fault::malformed(&format!("the body is larger than {limit} bytes"));
    if usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX) > limit {
        return Err(oversized());
    }
    let mut bytes = Vec::new();
    while let Some(data) = next(&mut body).await? {
        if data.len() > limit.saturating_sub(bytes.len()) {
            return Err(oversized());
        }
        if !held.grow(bytes.len() + data.len()) {
            return Err(no_room());
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

/// Returns the next piece of a body; `None` at the end.
pub(super) async fn next(body: &mut Incoming) -> Result<Option<Bytes>, Fault> {
    while let Some(frame) = body.frame().await {
        let frame = frame
            .map_err(|error| Fault::died(&format!("the answer was cut off: {}", super::client::causes(&error))))?;
        if let Ok(data) = frame.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

pub(super) fn no_room() -> Fault {
    Fault::died("too many answers are being read at once")
}

/// Reads a message strictly.
pub(super) fn message(mut bytes: Vec<u8>, secrets: &Secrets) -> Result<Frame, Fault> {
    bytes.truncate(bytes.trim_ascii_end().len());
    let malformed = |why: &str| Fault::malformed(why);
    let frame = Frame::read(bytes).map_err(|flaw| malformed(&flaw.why))?;
    if secrets.are_in(frame.text()) {
        return Err(malformed("it repeats the value of a header that it was sent, and is withheld"));
    }
    Ok(frame)
}
