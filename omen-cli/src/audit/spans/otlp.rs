//! JSON encoding of OTLP, the OpenTelemetry protocol.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// Status of a span.
#[derive(Clone, Debug)]
pub(super) enum Status {
    Unset,
    Error(String),
}

#[derive(Debug)]
pub(super) struct Span {
    json: Value,
    attributes: Vec<Value>,
}

impl Span {
    /// Creates a span in the trace of a turn; both times are nanoseconds since 1970. The ids are hashes, which makes them
    /// reproducible.
    pub(super) fn new(name: &str, turn: &str, sequence: u64, (start, end): (u128, u128), status: Status) -> Self {
        let status = match status {
            Status::Unset => json!({}),
            Status::Error(message) => json!({ "code": 2, "message": message }),
        };
        let json = json!({
            "traceId": id(&[b"trace", turn.as_bytes()], 16),
            "spanId": id(&[b"span", turn.as_bytes(), &sequence.to_be_bytes()], 8),
            "name": name,
            // SPAN_KIND_INTERNAL: the tool is called within the agent.
            "kind": 1,
            "startTimeUnixNano": start.to_string(),
            "endTimeUnixNano": end.to_string(),
            "status": status,
        });
        Self { json, attributes: Vec::new() }
    }

    /// Adds an attribute if it has a value.
    pub(super) fn text(&mut self, key: &str, value: Option<&str>) {
        self.attributes.extend(value.map(|value| attribute(key, value)));
    }

    pub(super) fn number(&mut self, key: &str, value: u64) {
        self.attributes.push(json!({ "key": key, "value": { "intValue": value.to_string() } }));
    }

    pub(super) fn into_json(mut self) -> Value {
        if let Some(members) = self.json.as_object_mut() {
            members.insert("attributes".to_owned(), self.attributes.into());
        }
        self.json
    }
}

/// Builds an export request; it names the version of the semantic conventions.
pub(super) fn request(spans: Vec<Value>) -> Value {
    let resource = json!({ "attributes": [attribute("service.name", "omen-gate")] });
    let scope = json!({
        "name": "omen",
        "version": env!("CARGO_PKG_VERSION"),
        "attributes": [attribute("omen.mapping", MAPPING)],
    });
    json!({ "resourceSpans": [{
        "resource": resource,
        "scopeSpans": [{ "scope": scope, "spans": spans, "schemaUrl": CONVENTIONS }],
        "schemaUrl": CONVENTIONS,
    }] })
}

fn attribute(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

/// Returns the first `bytes` bytes of a hash over length-prefixed parts, in hexadecimal.
fn id(parts: &[&[u8]], bytes: usize) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().iter().take(bytes).map(|byte| format!("{byte:02x}")).collect()
}

/// URL of the semantic conventions.
const CONVENTIONS: &str = "https://opentelemetry.io/schemas/1.41.0";

/// Version of the mapping from entries to attributes; changes with every attribute.
const MAPPING: &str = "1";
