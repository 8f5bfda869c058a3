//! Detection of a stream that is not a log of packets, from its first lines.
//!
//! Without it, each line of such a stream would have several findings, none of which names the problem.

use omen_schema::json::Scanner;
use omen_types::definition;
use omen_types::serde_json::{self, Value};
use omen_types::shape::{Shape, ShapeKind};
use omen_types::suggest::{list, nearest};
use omen_types::{Code, Diagnostic, pointer};

use super::head;
use super::sink::Sink;
use super::summary::Summary;
use super::tally::Tally;

/// Reports a stream whose beginning shows that it is not a log of packets, with one finding instead of several for each
/// line. Then returns the counts, and nothing is left to check.
///
/// Only complete lines are compared. The stream is not a log of packets if its first 16 lines (at least three) are all text, or
/// objects without a field of a packet. Text before each packet, or packets within another field, are recognized in the first
/// line. A program that checks a stream while it is being written calls this with the bytes so far, and does not wait for more.
///
/// ```
/// use omen::{Finding, validator};
///
/// let mut findings: Vec<Finding> = Vec::new();
/// let log = "{\"level\":\"info\",\"msg\":\"started\"}\n".repeat(3);
/// let Ok(summary) = validator::report_foreign(log.as_bytes(), &mut findings);
/// assert!(summary.is_some() && findings[0].diagnostic.message.contains("`level`, `msg`"));
/// let packets = omen_schema::example("valid/read-only.jsonl").unwrap_or_default();
/// let Ok(summary) = validator::report_foreign(packets.as_bytes(), &mut findings);
/// assert!(summary.is_none());
/// ```
///
/// # Errors
/// The error of the sink.
pub fn report_foreign<S: Sink + ?Sized>(begin: &[u8], sink: &mut S) -> Result<Option<Summary>, S::Error> {
    let Some(finding) = foreign(begin) else { return Ok(None) };
    let mut tally = Tally::default();
    tally.other(finding, begin, sink)?;
    Ok(Some(Summary { bytes: begin.len() as u64, ..tally.summary }))
}

fn foreign(begin: &[u8]) -> Option<Diagnostic> {
    // Other formats have their own findings.
    if !head::may_be_lines(begin) {
        return None;
    }
    let mut names: Vec<String> = Vec::new();
    let (mut count, mut within, mut behind) = (0, None, None);
    for line in begin.split_inclusive(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).take(MOST) {
        if line.contains(&0) {
            return Some(not_read("expected JSON Lines, found binary data", NAME_THE_LOG.to_owned()));
        }
        if !line.ends_with(b"\n") {
            break;
        }
        count += 1;
        match LineKind::classify(&String::from_utf8_lossy(line)) {
            LineKind::Packet => return None,
            LineKind::Object(found) => names.extend(found),
            LineKind::Within(pointer) => within = within.or(Some(pointer)),
            LineKind::Behind(prefix) => behind = behind.or(Some(prefix)),
            LineKind::Text => {}
        }
    }
    if let Some(pointer) = within {
        let what = format!("expected packets, found them within `{pointer}` of other objects");
        return Some(not_read(&what, format!("read them there: `omen check --field {pointer}`")));
    }
    if let Some(prefix) = behind {
        let what = format!("expected a packet on each line, found `{prefix}` before it");
        return Some(not_read(&what, "skip what is before each packet: `omen check --prefix`".to_owned()));
    }
    if count < LEAST {
        return None;
    }
    let mut seen: Vec<String> = Vec::new();
    for name in names {
        if seen.len() < MOST_NAMES && !seen.contains(&name) {
            seen.push(name);
        }
    }
    let expected = list(envelope());
    let what = if seen.is_empty() {
        format!("expected objects with {expected}, found text: this is not an OMEN log")
    } else {
        let found = list(seen.iter().map(String::as_str));
        format!("expected objects with {expected}, found objects with {found}: this is not an OMEN log")
    };
    Some(not_read(&what, NAME_THE_LOG.to_owned()))
}

fn not_read(what: &str, help: String) -> Diagnostic {
    Diagnostic::error(Code::Json, format!("{what}; nothing in this input was checked")).help(help)
}

/// Classification of a line.
enum LineKind {
    /// Part of a log of packets, valid or not.
    Packet,
    /// An object with these fields.
    Object(Vec<String>),
    /// A packet inside the field at a JSON pointer, as an object or as its text.
    Within(String),
    /// A packet preceded by some text.
    Behind(String),
    Text,
}

impl LineKind {
    fn classify(line: &str) -> Self {
        let line = line.trim();
        let Some(members) = members(line) else { return Self::of_text(line) };
        if members.iter().any(|(name, _)| is_of_packet(name)) {
            return Self::Packet;
        }
        let is_within = |value: &Value| match value {
            Value::Object(object) => object.keys().any(|name| envelope().any(|field| field == name)),
            Value::String(text) => has_envelope(text),
            _ => false,
        };
        match members.iter().find(|(_, value)| is_within(value)) {
            Some((name, _)) => {
                let mut at = String::new();
                pointer::push(&mut at, name);
                Self::Within(at)
            }
            // An empty object is a packet that lacks all its fields.
            None if members.is_empty() => Self::Packet,
            None => {
                Self::Object(members.into_iter().map(|(name, _)| name.chars().take(LONGEST_NAME).collect()).collect())
            }
        }
    }

    fn of_text(line: &str) -> Self {
        match line.split_once('{') {
            Some((prefix, rest)) if !prefix.is_empty() && has_envelope(&format!("{{{rest}")) => {
                Self::Behind(prefix.chars().take(LONGEST_NAME).collect())
            }
            // A packet that is truncated or not written as JSON.
            _ if envelope().any(|field| line.contains(field)) => Self::Packet,
            // Other JSON, and brackets of JSON that spans several lines.
            _ if !line.contains(|c: char| c.is_alphabetic() || c.is_control() || c == char::REPLACEMENT_CHARACTER)
                || serde_json::from_str::<Value>(line).is_ok() =>
            {
                Self::Packet
            }
            _ if line.starts_with(['{', '[', '`']) => Self::Packet,
            _ => Self::Text,
        }
    }
}

fn has_envelope(text: &str) -> bool {
    members(text).is_some_and(|members| members.iter().any(|(name, _)| envelope().any(|field| field == name)))
}

/// Returns the fields that every packet has.
fn envelope() -> impl Iterator<Item = &'static str> {
    fields(definition::of_packet(None)).map(|(name, _)| name)
}

/// Returns whether a packet has a field with this name at its root, or in an object there that may be missing.
fn is_of_packet(name: &str) -> bool {
    let inner = fields(definition::of_packet(None)).flat_map(|(_, shape)| fields(shape)).map(|(name, _)| name);
    nearest(name, envelope()).is_some() || inner.into_iter().any(|field| field == name)
}

fn fields(shape: &'static Shape) -> impl Iterator<Item = (&'static str, &'static Shape)> {
    let fields = match &shape.kind {
        ShapeKind::Object(object) => object.fields,
        _ => &[],
    };
    fields.iter().map(|field| (field.name, field.shape))
}

/// Returns the fields of an object, in order; `None` for any other text.
fn members(text: &str) -> Option<Vec<(String, Value)>> {
    let mut scanner = Scanner::new(text);
    let mut members = Vec::new();
    scanner.object(|scanner, name, _| members.push((name.into_owned(), scanner.skip())));
    scanner.finish().ok()?;
    let value = |(name, span)| Some((name, serde_json::from_str(scanner.slice(&span)).ok()?));
    members.into_iter().map(value).collect()
}

const NAME_THE_LOG: &str = "pass the log that the agent writes its packets to; `omen new observe` prints a packet";

/// Maximum number of lines that are compared.
const MOST: usize = 16;

/// Minimum number of lines for recognizing a foreign log.
const LEAST: usize = 3;

const MOST_NAMES: usize = 5;

const LONGEST_NAME: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    fn help(text: &str) -> Option<String> {
        foreign(text.as_bytes()).and_then(|finding| finding.help)
    }

    fn packet() -> &'static str {
        omen_schema::example("valid/read-only.jsonl").and_then(|log| log.lines().next()).unwrap_or_default()
    }

    #[test]
    fn logs_of_something_else_are_recognized() {
        for line in ["{\"level\":\"info\",\"msg\":\"x\"}\n", "Nov 24 10:00:00 host kernel: started\n"] {
            assert_eq!(help(&line.repeat(3)).as_deref(), Some(NAME_THE_LOG), "{line}");
            assert_eq!(help(&line.repeat(2)), None);
            // If any line is a packet, every line is checked.
            assert_eq!(help(&format!("{}{}\n", line.repeat(5), packet())), None);
            // An incomplete line is ignored.
            assert_eq!(help(line.repeat(3).trim_end()), None);
        }
        let all = foreign("{\"b\":1,\"a\":1}\n{\"c\":1}\n{\"b\":1}\n".as_bytes());
        assert!(
            all.is_some_and(|all| all.message.contains("found objects with `b`, `a`, `c`: this is not an OMEN log"))
        );
    }

    #[test]
    fn packets_that_are_wrapped_are_recognized_in_the_first_line() {
        let text = Value::from(packet());
        assert_eq!(
            help(&format!("{{\"log\":{text},\"stream\":\"stdout\"}}\n")).as_deref(),
            Some("read them there: `omen check --field /log`")
        );
        assert_eq!(
            help(&format!("{{\"a/b\":{}}}\n", packet())).as_deref(),
            Some("read them there: `omen check --field /a~1b`")
        );
        let prefixed = help(&format!("2026-11-24T10:00:00Z stdout F {}\n", packet()));
        assert!(prefixed.is_some_and(|help| help.contains("`omen check --prefix`")));
    }

    #[test]
    fn binary_data_is_recognized() {
        assert!(foreign(b"\x7fELF\x02\x01\x01\0").is_some() && foreign(b"\x89PNG\r\n\x1a\n\0\0\0\n").is_some());
        // A hole in a log of packets is reported at its position.
        assert!(foreign(format!("{}\n\0\0\n", packet()).as_bytes()).is_none());
        assert!(foreign(b"{\0\"\0").is_none() && foreign(b"PK\x03\x04\0\0").is_none());
    }

    #[test]
    fn a_broken_log_of_packets_is_checked_line_by_line() {
        for line in [
            "",
            "?",
            "{}",
            "[]",
            "12",
            "{\"packet_id\":\"pkt_1\"}",
            "{\"Header\":{}}",
            "{\"heder\":{}}",
            "{\"header\":{\"packet_id\":",
            "{'header': {}}",
            "```json",
        ] {
            assert_eq!(help(&format!("{line}\n").repeat(20)), None, "{line}");
        }
    }
}
