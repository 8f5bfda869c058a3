//! Verdicts on one text, and their comparison.

use std::fmt;
use std::ops::Range;

use omen::Finding;
use omen_types::{Code, Packet, PacketFacts, Rejected, parse};
use serde_json::Value;

use super::pointer;
use super::schemas::Schemas;
use super::strict::{self, Unreadable};

/// Kind of disagreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The readers accept an invalid packet.
    Accepted,
    /// A reader refuses a valid packet.
    Refused,
    /// The walk finds no error where the readers do, or vice versa.
    Walk,
    /// An error has no pointer or span, or an invalid one.
    Place,
    /// The errors are at other places than in JSON Schema.
    Elsewhere,
    /// A packet changes in a round trip.
    RoundTrip,
    /// The readers disagree.
    Readers,
    /// The referee's own reading of JSON and that of `serde_json` differ.
    Json,
    /// The schema files and the schema that schemars derives from `Packet` differ.
    Derived,
    /// The validator of logs reports something different about the line.
    Validator,
}

/// A disagreement with its details.
pub(super) struct Complaint {
    pub(super) fault: Fault,
    pub(super) details: String,
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.fault, self.details)
    }
}

fn complain<T>(fault: Fault, details: impl fmt::Display) -> Result<T, Complaint> {
    Err(Complaint { fault, details: details.to_string() })
}

/// Expected verdict, determined without `omen-types`.
enum Expected {
    /// Invalid JSON, or nested too deeply.
    Unreadable,
    /// An invalid packet.
    Refused(Option<Value>),
    Accepted(Value),
}

fn expected(schemas: &Schemas, text: &str) -> Result<Expected, Complaint> {
    // JSON Schema needs a `serde_json` value.
    match (strict::read(text), serde_json::from_str::<Value>(text)) {
        (Err(Unreadable::TooDeep), _) | (Err(Unreadable::Syntax), Err(_)) => Ok(Expected::Unreadable),
        (Err(Unreadable::Syntax), Ok(value)) => complain(Fault::Json, format!("only `serde_json` reads it: {value}")),
        (Ok(_), Err(error)) => complain(Fault::Json, format!("only `serde_json` refuses it: {error}")),
        // JSON Schema sees only one of the two values (D42).
        (Ok(tree), Ok(_)) if tree.repeats_a_key() => Ok(Expected::Refused(None)),
        (Ok(_), Ok(value)) => match (schemas.accept(&value), schemas.derived_accept(&value)) {
            (true, true) => Ok(Expected::Accepted(value)),
            (false, false) => Ok(Expected::Refused(Some(value))),
            (true, false) => complain(Fault::Derived, "only the schema that schemars derives refuses it"),
            (false, true) => complain(Fault::Derived, "only the schema files refuse it"),
        },
    }
}

/// Compares all verdicts on a line, which need not be UTF-8, including that of the validator of logs. Returns whether it is a
/// valid packet.
pub(super) fn judge_line(schemas: &Schemas, line: &[u8]) -> Result<bool, Complaint> {
    let mut findings: Vec<Finding> = Vec::new();
    let mut validator = omen::Validator::new(omen::ValidatorOptions::default());
    for bytes in [line, b"\n"] {
        let Ok(()) = validator.feed(bytes, &mut findings);
    }
    let Ok(_) = validator.finish(&mut findings);
    let codes: Vec<Code> = findings.iter().map(|finding| finding.diagnostic.code).collect();
    let Ok(text) = std::str::from_utf8(line) else {
        return match *codes {
            [Code::Json] => Ok(false),
            _ => complain(Fault::Validator, format!("not UTF-8, and the validator reports {codes:?}")),
        };
    };
    let is_valid = judge(schemas, text)?;
    let reported = codes.iter().any(|code| matches!(code, Code::Json | Code::Schema));
    if is_valid == reported && !text.trim().is_empty() {
        return complain(Fault::Validator, format!("the validator reports {codes:?}"));
    }
    Ok(is_valid)
}

/// Compares all verdicts on a text. Returns whether it is a valid packet.
pub(super) fn judge(schemas: &Schemas, text: &str) -> Result<bool, Complaint> {
    match (expected(schemas, text)?, text.parse::<Packet>(), PacketFacts::parse(text)) {
        (Expected::Accepted(value), Ok(packet), Ok(facts)) => {
            accepted(text, &value, &packet, &facts)?;
            Ok(true)
        }
        (Expected::Accepted(_), Err(rejected), Ok(_)) => {
            complain(Fault::Refused, format!("only `Packet` refuses: {rejected}"))
        }
        (Expected::Accepted(_), Ok(_), Err(rejected)) => {
            complain(Fault::Refused, format!("only `PacketFacts` refuses: {rejected}"))
        }
        (Expected::Accepted(_), Err(rejected), Err(_)) => complain(Fault::Refused, rejected),
        (_, Ok(_), Ok(_)) => complain(Fault::Accepted, "both readers accept"),
        (_, Ok(_), Err(rejected)) => {
            complain(Fault::Accepted, format!("`Packet` accepts; `PacketFacts` reports: {rejected}"))
        }
        (_, Err(rejected), Ok(_)) => {
            complain(Fault::Accepted, format!("`PacketFacts` accepts; `Packet` reports: {rejected}"))
        }
        (expected, Err(rejected), Err(other)) => {
            if rejected.errors != other.errors || rejected.claims != other.claims {
                return complain(Fault::Readers, format!("two lists of errors:\n{rejected}\nand\n{other}"));
            }
            refused(schemas, text, expected, &rejected)?;
            Ok(false)
        }
    }
}

fn accepted(text: &str, value: &Value, packet: &Packet, facts: &PacketFacts<'_>) -> Result<(), Complaint> {
    if let Some(error) = parse::walk(text).first() {
        return complain(Fault::Walk, format!("accepted, but the walk reports: {error}"));
    }
    if let Err(errors) = packet.check() {
        return complain(Fault::Walk, format!("parsed, but `check` reports: {errors:?}"));
    }
    let same = packet.packet_type() == facts.payload.packet_type()
        && packet.packet_type() == facts.header.packet_type
        && packet.header().packet_id.as_str() == facts.header.packet_id
        && packet.header().created_at.instant() == facts.header.created_at;
    if !same {
        return complain(Fault::Readers, format!("`Packet` and `PacketFacts` differ: {packet:?} and {facts:?}"));
    }
    let written = match serde_json::to_value(packet) {
        Ok(written) => written,
        Err(error) => return complain(Fault::RoundTrip, error),
    };
    if !same_value(&written, value) {
        return complain(Fault::RoundTrip, format!("came back as {written}"));
    }
    match written.to_string().parse::<Packet>() {
        Ok(again) if again == *packet => {}
        Ok(again) => return complain(Fault::RoundTrip, format!("{packet:?} came back as {again:?}")),
        Err(rejected) => return complain(Fault::RoundTrip, format!("{written} is refused: {rejected}")),
    }
    match serde_json::from_value::<Packet>(value.clone()) {
        Ok(again) if again == *packet => Ok(()),
        Ok(again) => complain(Fault::Readers, format!("{packet:?} becomes {again:?} when read from a tree")),
        Err(error) => complain(Fault::Readers, format!("refused when read from a tree: {error}")),
    }
}

fn refused(schemas: &Schemas, text: &str, expected: Expected, rejected: &Rejected) -> Result<(), Complaint> {
    let code = if matches!(expected, Expected::Unreadable) { Code::Json } else { Code::Schema };
    let Some(first) = rejected.errors.first() else {
        return complain(Fault::Walk, "refused without an error");
    };
    if code == Code::Json && rejected.errors.len() > 1 {
        return complain(Fault::Walk, "an unreadable text has more than one error");
    }
    if first.message.starts_with("the packet does not match its schema") {
        return complain(Fault::Walk, format!("the walk finds no error: {first}"));
    }
    let repeated = matches!(expected, Expected::Refused(None));
    for error in &rejected.errors {
        let Some(span) = error.span.clone() else { return complain(Fault::Place, format!("no span: {error}")) };
        if error.code != code {
            return complain(Fault::Walk, format!("expected the code {code}: {error}"));
        }
        if text.get(span.clone()).is_none() || (span.is_empty() && !text.is_empty()) {
            return complain(Fault::Place, format!("invalid span {span:?}: {error}"));
        }
        if code == Code::Json {
            continue;
        }
        let Some(at) = &error.pointer else { return complain(Fault::Place, format!("no pointer: {error}")) };
        let holds = |place: &Range<usize>| place.start <= span.start && span.end <= place.end;
        let Some(place) = parse::locate(text, at) else {
            return complain(Fault::Place, format!("invalid pointer: {error}"));
        };
        // The span of an unknown member is its name. A pointer through a repeated key has two places.
        if !holds(&place) && !repeated {
            let around = parse::locate(text, pointer::parent(at).unwrap_or_default());
            if !around.as_ref().is_some_and(holds) {
                return complain(Fault::Place, format!("the span {span:?} is not in {around:?}: {error}"));
            }
        }
    }
    let Expected::Refused(Some(value)) = expected else { return Ok(()) };
    if serde_json::from_value::<Packet>(value.clone()).is_ok() {
        return complain(Fault::Accepted, "accepted when read from a tree");
    }
    same_errors(schemas, &value, rejected)
}

/// Checks that each error of one side has a matching error on the other side.
fn same_errors(schemas: &Schemas, value: &Value, rejected: &Rejected) -> Result<(), Complaint> {
    let Some(packet_type) = rejected.claims.packet_type else { return Ok(()) };
    let theirs = schemas.error_places(packet_type.as_str(), value);
    let ours: Vec<_> = rejected.errors.iter().filter_map(|error| error.pointer.as_deref()).collect();
    for place in &theirs {
        if !ours.iter().any(|our| place.is(our)) {
            return complain(
                Fault::Elsewhere,
                format!("JSON Schema has an error at `{}`; ours are\n{rejected}", place.pointer),
            );
        }
    }
    for our in &ours {
        if !theirs.iter().any(|place| place.is(our)) {
            return complain(
                Fault::Elsewhere,
                format!("JSON Schema has no error at `{our}`, only at {theirs:?}; ours are\n{rejected}"),
            );
        }
    }
    Ok(())
}

/// Returns whether two values are equal in JSON Schema, where `1.0` equals `1`.
fn same_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || (a.as_f64() == b.as_f64() && (a.is_f64() || b.is_f64())),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same_value(a, b)))
        }
        _ => a == b,
    }
}
