//! Ids and tokens of requests that share a session (2026-07-28): each client chooses its own, so two may choose the same.
//! Nothing else in a message is changed.

use std::ops::Range;

use super::streams::{ClientRequest, Streams};
use crate::edit::{edited, member, meta};
use crate::frame::id::Id;
use crate::frame::{Frame, Kind};
use crate::methods::{LIST_TOOLS, LISTEN, PROGRESS, SUBSCRIPTION};

/// Returns a request that keeps its id.
pub(super) fn as_it_is(frame: &Frame) -> ClientRequest {
    let token = meta(frame, "progressToken").and_then(|span| Id::read(frame.raw(span)));
    ClientRequest {
        // INVARIANT: a request has an id.
        id: frame.id().cloned().unwrap_or(Id::Number(0)),
        token,
        raw_id: frame.raw_id().to_owned(),
        raw_token: None,
        listens: is(frame, LISTEN),
        lists: is(frame, LIST_TOOLS),
    }
}

/// Returns a request in which a number replaces its id and token.
pub(super) fn of_client(frame: &Frame, number: u64) -> (ClientRequest, String) {
    let own = number.to_string();
    let token = meta(frame, "progressToken");
    let edits = frame.id_span().into_iter().chain(token.clone()).map(|span| (span, own.clone())).collect();
    let text = edited(frame.text(), edits);
    let id = Id::Number(i64::try_from(number).unwrap_or(i64::MAX));
    let asked = ClientRequest {
        token: token.is_some().then(|| id.clone()),
        id,
        raw_id: frame.raw_id().to_owned(),
        raw_token: token.map(|span| frame.raw(span).to_owned()),
        listens: is(frame, LISTEN),
        lists: is(frame, LIST_TOOLS),
    };
    (asked, text)
}

/// Returns a response under the id that the client gave its request.
pub(super) fn response(frame: &Frame, asked: &ClientRequest) -> String {
    let subscription =
        meta(frame, SUBSCRIPTION).filter(|span| Id::read(frame.raw(span.clone())).as_ref() == Some(&asked.id));
    let spans = frame.id_span().into_iter().chain(subscription);
    edited(frame.text(), spans.map(|span| (span, asked.raw_id.clone())).collect())
}

/// Returns the request's stream for a notification that names its request, and the notification as its client knows it.
pub(super) fn for_its_client(frame: &Frame, streams: &Streams) -> Option<(u64, String)> {
    if let Some(span) = meta(frame, SUBSCRIPTION) {
        let (number, asked) = streams.asked(&Id::read(frame.raw(span.clone()))?)?;
        return Some((number, edited(frame.text(), vec![(span, asked.raw_id)])));
    }
    if !matches!(&frame.kind, Kind::Notification(method) if method == PROGRESS) {
        return None;
    }
    let (token, span) = progress_token(frame)?;
    let (number, asked) = streams.of_token(&token)?;
    Some((number, edited(frame.text(), vec![(span, asked.raw_token?)])))
}

/// Returns the token by which a progress notification names its request, and its range.
pub(super) fn progress_token(frame: &Frame) -> Option<(Id, Range<usize>)> {
    let span = member(frame, "progressToken")?;
    Some((Id::read(frame.raw(span.clone()))?, span))
}

/// Returns the notification that nobody is waiting for the answer to a request.
pub(super) fn cancelled(id: &Id) -> String {
    let id = id.raw();
    let params = format!("{{\"requestId\":{id},\"reason\":\"the client has closed the connection\"}}");
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{params}}}")
}

fn is(frame: &Frame, name: &str) -> bool {
    matches!(&frame.kind, Kind::Request(method) if method == name)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{as_it_is, for_its_client, of_client, response};
    use crate::frame::Frame;
    use crate::frame::id::Id;
    use crate::http::server::streams::Streams;

    fn frame(text: &str) -> Frame {
        Frame::read(text.as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn ids_and_tokens_are_replaced_there_and_back_and_nothing_else_is() {
        let text = r#"{"params":{"name":"a","x":1.0e9,"_meta":{"progressToken" : "t\u0061","y":[7]}},"id":"é","jsonrpc":"2.0","method":"tools/call"}"#;
        let (asked, sent) = of_client(&frame(text), 12);
        assert_eq!(sent, text.replace(r#""t\u0061""#, "12").replace("\"é\"", "12"));
        assert_eq!((asked.id.clone(), asked.token.clone()), (Id::Number(12), Some(Id::Number(12))));
        let answer = r#"{"jsonrpc":"2.0","id":12,"result":{"id":12,"_meta":{"x":12}}}"#;
        assert_eq!(response(&frame(answer), &asked), answer.replacen("12", "\"é\"", 1));
        let subscribed =
            r#"{"jsonrpc":"2.0","id":12,"result":{"_meta":{"io.modelcontextprotocol/subscriptionId":12}}}"#;
        assert_eq!(response(&frame(subscribed), &asked), subscribed.replace("12", "\"é\""));

        let streams = Streams::new(1_000);
        streams.open(|_| asked).unwrap();
        let progress =
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":12,"progressToken":12}}"#;
        let back = for_its_client(&frame(progress), &streams).unwrap();
        assert_eq!(back, (1, progress.replace("n\":12}}", "n\":\"t\\u0061\"}}")));
        let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":12}}}"#;
        assert_eq!(for_its_client(&frame(changed), &streams).unwrap().1, changed.replace("12", "\"é\""));
        for other in [
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":13}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"progressToken":12}}"#,
        ] {
            assert_eq!(for_its_client(&frame(other), &streams), None, "{other}");
        }
    }

    #[test]
    fn a_request_of_a_session_keeps_its_id() {
        let asked =
            as_it_is(&frame(r#"{"jsonrpc":"2.0","id":"a","method":"m","params":{"_meta":{"progressToken":5}}}"#));
        assert_eq!((asked.id, asked.token, asked.listens), (Id::Text("a".into()), Some(Id::Number(5)), false));
        assert!(as_it_is(&frame(r#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}"#)).listens);
    }
}
