//! The place in a fixed log that shows what was changed.

use std::ops::Range;

use omen::finding::{Finding, Stage};
use omen_types::{parse, pointer};
use serde_json::Value;

/// A place in a log, with a few words for it.
pub(super) struct Place<'l> {
    pub(super) number: u64,
    pub(super) line: &'l str,
    pub(super) span: Range<usize>,
    pub(super) label: &'static str,
}

/// Where a fixed log differs from the rejected one: at the place of the finding if the text there is another, or else in
/// a packet that was added, or in another field of the packet. For the order of packets, those that were added come first.
pub(super) fn place<'l>(rejected: &str, finding: &Finding, line: Option<&str>, fixed: &'l str) -> Option<Place<'l>> {
    let id = finding.packet_id.as_deref().map(attempted);
    let lines = || (1..).zip(fixed.lines());
    let same = || lines().find(|(_, line)| id.is_some() && self::id(line).as_deref() == id);
    let added = || {
        let known: Vec<String> =
            rejected.lines().filter_map(|line| Some(attempted(&self::id(line)?).to_owned())).collect();
        let (number, line) = lines().find(|(_, line)| self::id(line).is_some_and(|id| !known.contains(&id)))?;
        at(number, line, "/header/packet_type", "this packet was added")
    };
    let here = || {
        let ((number, fixed), line) = (same()?, line?);
        let pointer = finding.diagnostic.pointer.as_deref()?;
        let text = |line: &str| Some(line.get(parse::locate(line, pointer)?)?.to_owned());
        (text(fixed) != text(line)).then(|| at(number, fixed, pointer, "accepted here"))?
    };
    let elsewhere = || {
        let ((number, fixed), line) = (same()?, line?);
        let [before, after]: [Value; 2] = [serde_json::from_str(line).ok()?, serde_json::from_str(fixed).ok()?];
        let mut found = String::new();
        differs(&before, &after, &mut found).then(|| at(number, fixed, &found, "this was changed"))?
    };
    match finding.stage {
        Stage::Fsm | Stage::End => here().or_else(added).or_else(elsewhere),
        _ => here().or_else(elsewhere).or_else(added),
    }
}

fn at<'l>(number: u64, line: &'l str, pointer: &str, label: &'static str) -> Option<Place<'l>> {
    Some(Place { number, line, span: parse::locate(line, pointer)?, label })
}

/// A rejected attempt (`…_try`) at a packet has the packet's id otherwise.
fn attempted(id: &str) -> &str {
    id.strip_suffix("_try").unwrap_or(id)
}

fn id(line: &str) -> Option<String> {
    let span = parse::locate(line, "/header/packet_id")?;
    Some(line.get(span)?.trim_matches('"').to_owned())
}

/// Whether two packets differ in more than id and time; the pointer to the first difference.
fn differs(before: &Value, after: &Value, at: &mut String) -> bool {
    let length = at.len();
    let found = match (before, after) {
        (Value::Object(before), Value::Object(after)) => after.iter().any(|(key, value)| {
            pointer::push(at, key);
            let ignored = matches!(at.as_str(), "/header/packet_id" | "/header/created_at");
            let is_new = match before.get(key) {
                Some(before) => differs(before, value, at),
                None => true,
            };
            let found = is_new && !ignored;
            if !found {
                at.truncate(length);
            }
            found
        }),
        _ => before != after,
    };
    if !found {
        at.truncate(length);
    }
    found
}
