//! Conversion of log entries to spans.

use std::collections::BTreeMap;
use std::time::UNIX_EPOCH;

use omen_gate::audit::Logged;
use serde_json::{Map, Value};

use super::otlp::{Span, Status};

/// Calls without an outcome yet, by turn and hash.
#[derive(Debug, Default)]
pub(super) struct Spans(BTreeMap<(String, String), SpanStart>);

#[derive(Debug)]
struct SpanStart {
    sequence: u64,
    start: u128,
    data: Map<String, Value>,
}

impl Spans {
    /// Processes an entry, and returns the span that it ends, if any.
    pub(super) fn take(&mut self, entry: Logged<'_>) -> Option<Value> {
        let (data, turn) = (entry.data(), entry.turn()?);
        let time = nanos(entry.time())?;
        let kind = entry.kind();
        // A refusal, by a rule or by the person asked to confirm, has no intent after it, so it is a span by itself.
        if matches!(kind.as_str(), "decision" | "confirmation") {
            return (text(data, "outcome") == Some("denied")).then(|| {
                let begun = SpanStart { sequence: entry.sequence(), start: time, data: data.clone() };
                span(&begun, entry, turn, time)
            });
        }
        let call = (turn.to_owned(), text(data, "call")?.to_owned());
        match kind.as_str() {
            "intent" => {
                self.0.insert(call, SpanStart { sequence: entry.sequence(), start: time, data: data.clone() });
                None
            }
            "outcome" => self.0.remove(&call).map(|begun| span(&begun, entry, turn, time)),
            _ => None,
        }
    }
}

/// Builds the span of a call or a refusal.
fn span(begun: &SpanStart, ended: Logged<'_>, turn: &str, end: u128) -> Value {
    let (data, last) = (&begun.data, ended.data());
    let named = |member: &str| data.get("tool").and_then(|tool| tool.get(member)).and_then(Value::as_str);
    let tool = named("tool").unwrap_or("unknown");
    let code = text(last, "code");
    // `class` says how the tool failed; `code` names the rule that stopped the call.
    let error = text(last, "class").or(code);
    let status = match error {
        Some(error) => Status::Error(text(last, "why").unwrap_or(error).to_owned()),
        None => Status::Unset,
    };
    let mut span = Span::new(&format!("execute_tool {tool}"), turn, begun.sequence, (begun.start, end), status);
    span.text("gen_ai.operation.name", Some("execute_tool"));
    span.text("gen_ai.tool.name", Some(tool));
    span.text("gen_ai.tool.call.id", text(data, "call"));
    span.text("gen_ai.conversation.id", ended.correlation_id());
    span.text("error.type", error);
    span.text("omen.server", named("server"));
    span.text("omen.turn", Some(turn));
    span.text("omen.code", code);
    span.text("omen.ran", text(last, "ran"));
    span.text("omen.packet_id", ended.packet_id());
    span.text("omen.policy", text(data, "policy"));
    span.text("omen.pin", text(data, "pin"));
    span.number("omen.entry", begun.sequence);
    span.into_json()
}

fn text<'d>(data: &'d Map<String, Value>, member: &str) -> Option<&'d str> {
    data.get(member).and_then(Value::as_str)
}

fn nanos(time: &str) -> Option<u128> {
    let time = humantime::parse_rfc3339(time).ok()?;
    time.duration_since(UNIX_EPOCH).ok().map(|since| since.as_nanos())
}
