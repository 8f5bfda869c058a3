//! Client's view of a call that failed at its server: typed, bounded, and without control characters (R3, PG-4).
//!
//! A server's own words reach a model only if they are about the request, or if the tool itself has answered. All other text
//! comes from a failed program and was not written for a model to read; it is in the audit log.

use omen_gate::mcp::result_of;
use omen_gate::tool::Answer;
use omen_gate::{Blocked, Fault, FaultClass, Ran};
use omen_types::fit;
use omen_types::scalar::invisible::is_invisible;
use serde_json::{Map, Value, json};

use crate::messages::{Passage, Passages};
use omen_mcp::frame::Frame;
use omen_mcp::json;

/// Returns a protocol error from a server under the id of the client's request.
pub(crate) fn refused(response: &Frame, fault: &Fault, id: &str, passages: &Passages) -> Vec<u8> {
    let error = response.body().and_then(|body| json::object(response.text(), body).ok()).unwrap_or_default();
    let Fault::Refused { code, .. } = fault else { return response.with_id(id) };
    if *code == OPEN_A_URL && passages.check(Some(Passage::Urls)).is_ok() {
        // The operator allows servers to have addresses opened, which are in the error's data.
        return response.with_id(id);
    }
    let mut data = error.get("data").map(|data| for_clients(*code, data)).unwrap_or_default();
    data.insert(FAULT.to_owned(), typed(fault));
    let message = format!("{}. {}", fault.typed(), advice(fault));
    let error = json!({ "code": code, "message": message, "data": data });
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}").into_bytes()
}

/// Returns an answer in which the tool itself reports that it failed.
pub(crate) fn reported(response: &Frame, answer: &Answer, fault: &Fault, id: &str) -> Vec<u8> {
    let Ok(mut result) = result_of(response) else { return response.with_id(id) };
    let (mut content, mut left, mut left_out) = (Vec::new(), omen_gate::MAX_RAW_ANSWER, 0_usize);
    for block in &answer.content {
        match block.get("type").and_then(Value::as_str) {
            Some("text") => {
                let text = clean(block.get("text").and_then(Value::as_str).unwrap_or_default(), left);
                left = left.saturating_sub(text.len());
                content.push(json!({ "type": "text", "text": text }));
            }
            Some("image" | "audio") => content.push(block.clone()),
            _ => left_out += 1,
        }
    }
    let mut note = format!("The tool failed (R3, `{}`). {}", fault.class(), advice(fault));
    if left_out > 0 {
        note.push_str(&format!(" {left_out} other parts of its answer were omitted."));
    }
    content.push(json!({ "type": "text", "text": note }));
    result.insert("content".to_owned(), content.into());
    if let Some(structured) = result.remove("structuredContent") {
        let cleaned = cleaned(structured);
        if fit::size(&cleaned) <= omen_gate::MAX_RAW_ANSWER {
            result.insert("structuredContent".to_owned(), cleaned);
        }
    }
    let mut meta = match result.remove("_meta") {
        Some(Value::Object(meta)) => meta,
        _ => Map::new(),
    };
    meta.insert(FAULT.to_owned(), typed(fault));
    result.insert("_meta".to_owned(), Value::Object(meta));
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{}}}", Value::Object(result)).into_bytes()
}

/// Returns the answer of a tool that is not what the tool promises, as text (PG-4). None of it is structured content.
pub(crate) fn untyped(answer: &Answer) -> String {
    clean(&json!(answer).to_string(), omen_gate::MAX_RAW_ANSWER)
}

/// Returns the note in front of such an answer.
pub(crate) fn typing_blocked(why: &Blocked) -> String {
    format!("typed parsing blocked: {}", why.message)
}

/// Returns a fault for programs: what happened, whether the tool ran, whether a retry makes sense, and the protocol's code.
fn typed(fault: &Fault) -> Value {
    let class = fault.class();
    let code = match fault {
        Fault::Refused { code, .. } => Some(code),
        _ => None,
    };
    json!({ "class": class, "code": code, "ran": class.ran(), "retry": class.is_retryable() })
}

fn advice(fault: &Fault) -> &'static str {
    let class = fault.class();
    if fault.is_of_request() {
        return "The tool may have run. What to do: correct the request.";
    }
    match (class.is_retryable(), class.ran()) {
        (true, _) => "The tool did not run. What to do: try again later.",
        (false, Ran::No) => "The tool did not run. What to do: correct the request.",
        (false, Ran::Yes) if class == FaultClass::Tool => {
            "The tool ran. What to do: find out why it failed before it is called again."
        }
        (false, Ran::Yes) => "The tool ran. What to do: check what it did before calling it again.",
        (false, Ran::Unknown) => "The tool may have run. What to do: check what it did before calling it again.",
    }
}

/// Returns the data of a protocol error that programs need to continue: the versions that a server speaks, and its
/// requirements for a client. None of it is free text.
fn for_clients(code: i64, data: &Value) -> Map<String, Value> {
    let mut kept = Map::new();
    match code {
        UNSUPPORTED_VERSION => {
            let versions = data.get("supported").and_then(Value::as_array).into_iter().flatten();
            let versions: Vec<_> =
                versions.filter_map(Value::as_str).filter(|text| is_plain(text)).take(MOST).collect();
            kept.insert("supported".to_owned(), json!(versions));
            let requested = data.get("requested").and_then(Value::as_str).filter(|text| is_plain(text));
            kept.extend(requested.map(|version| ("requested".to_owned(), version.into())));
        }
        MISSING_CAPABILITY => {
            let required = data.get("requiredCapabilities").and_then(Value::as_object);
            kept.extend(required.map(|required| ("requiredCapabilities".to_owned(), names(required, 4).into())));
        }
        _ => {}
    }
    kept
}

/// Returns the names of capabilities, which are all that capabilities consist of.
fn names(members: &Map<String, Value>, levels: u8) -> Map<String, Value> {
    let named = members.iter().filter(|(name, _)| is_plain(name)).take(MOST);
    let inner = |value: &Value| match value.as_object().filter(|_| levels > 0) {
        Some(members) => names(members, levels - 1).into(),
        None => Value::Object(Map::new()),
    };
    named.map(|(name, value)| (name.clone(), inner(value))).collect()
}

/// Returns whether a text is a name or a version rather than a sentence.
fn is_plain(text: &str) -> bool {
    text.len() <= 64 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte))
}

/// Returns at most `most` bytes of a text, without invisible characters; line breaks are kept.
fn clean(text: &str, most: usize) -> String {
    let mut text: String =
        text.chars().map(|c| if is_invisible(c) && !matches!(c, '\n' | '\t') { ' ' } else { c }).collect();
    fit::cut(&mut text, most);
    text
}

fn cleaned(value: Value) -> Value {
    match value {
        Value::String(text) => clean(&text, omen_gate::MAX_RAW_ANSWER).into(),
        Value::Array(items) => items.into_iter().map(cleaned).collect(),
        Value::Object(members) => {
            let of = |(name, value): (String, Value)| (clean(&name, omen_gate::MAX_RAW_ANSWER), cleaned(value));
            Value::Object(members.into_iter().map(of).collect())
        }
        other => other,
    }
}

/// Member of `_meta`, and of the data of errors, with the fault.
const FAULT: &str = "omen/fault";

/// Maximum number of names of a kind that are passed on.
const MOST: usize = 64;

// Protocol error codes.
const MISSING_CAPABILITY: i64 = -32021;
const UNSUPPORTED_VERSION: i64 = -32022;
const OPEN_A_URL: i64 = -32042;
