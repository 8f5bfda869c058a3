//! Content of an answer, and how it is read.

use hyper::HeaderMap;
use hyper::body::Incoming;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE};
use omen_base::bounded;

use super::error::RequestError;
use super::extra_headers::SentHeaders;
use crate::frame::Frame;
use crate::http::memory_limit::Reservation;
use crate::http::{self, BodyError, MediaType};

/// Returns the content type of an answer.
pub(super) fn media_type(headers: &HeaderMap) -> Result<MediaType, RequestError> {
    let mut codings = headers.get_all(CONTENT_ENCODING).iter();
    if let Some(coding) = codings.find(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        let coding = bounded(&String::from_utf8_lossy(coding.as_bytes()));
        return Err(RequestError::Malformed(format!("the content encoding `{coding}` was not requested")));
    }
    let missing = || RequestError::Malformed("missing header `Content-Type`".into());
    let media = single(headers, CONTENT_TYPE.as_str())?.ok_or_else(missing)?;
    MediaType::read(media).ok_or_else(|| {
        RequestError::Malformed(format!("the content type `{}` is not one that the protocol allows", bounded(media)))
    })
}

/// Returns the value of a header that occurs at most once.
pub(super) fn single<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h str>, RequestError> {
    http::single(headers, name).map_err(RequestError::Malformed)
}

pub(super) async fn whole(body: Incoming, limit: usize, room: &mut Reservation) -> Result<Vec<u8>, RequestError> {
    http::whole(body, limit, room).await.map_err(|error| match error {
        // An overlong body does not show whether the tool ran, so this is not the error for an overlong answer.
        BodyError::Oversized => RequestError::Malformed(format!("the body is larger than {limit} bytes")),
        BodyError::NoRoom => no_room(),
        BodyError::Broken(error) => broken(&error),
    })
}

pub(super) fn broken(error: &hyper::Error) -> RequestError {
    RequestError::Died(format!("the answer was cut off: {}", super::sender::causes(error)))
}

pub(super) fn no_room() -> RequestError {
    RequestError::Died("too many answers are being read at once".into())
}

/// Reads a message strictly.
pub(super) fn message(mut bytes: Vec<u8>, sent: &SentHeaders) -> Result<Frame, RequestError> {
    bytes.truncate(bytes.trim_ascii_end().len());
    let frame = Frame::read(bytes).map_err(|flaw| RequestError::Malformed(flaw.why))?;
    if sent.has_secret_in(frame.text()) {
        let why = "it repeats the value of a header that it was sent, and is withheld";
        return Err(RequestError::Malformed(why.to_owned()));
    }
    Ok(frame)
}
