//! Position at which a fixed log shows the change.

use std::ops::Range;

use omen::finding::{Finding, Stage};
use omen_types::{parse, pointer};
use serde_json::Value;

/// A position in a log, with a label of a few words.
pub(super) struct LabelledLine<'l> {
    pub(super) number: u64,
    pub(super) line: &'l str,
    pub(super) span: Range<usize>,
    pub(super) label: &'static str,
}

/// Finds where a fixed log differs from the rejected one: at the position of the finding if the text there differs, or else in
/// another field of the packet, or at an additional packet. For findings about packet order, additional packets come first.
pub(super) fn place<'l>(
    rejected: &str,
    finding: &Finding,
    line: Option<&str>,
    fixed: &'l str,
) -> Option<LabelledLine<'l>> {
    let id = finding.packet_id.as_deref().map(attempted);
    let lines = || (1..).zip(fixed.lines());
    let same = || lines().find(|(_, line)| id.is_some() && self::id(line).as_deref() == id);
    let another = || {
        let mut ids = rejected.lines().map(self::id);
        let is_other = |line: &str| ids.next().flatten().as_deref().map(attempted) != self::id(line).as_deref();
        let mut lines = lines().skip_while({
            let mut is_other = is_other;
            move |(_, line)| !is_other(line)
        });
        let (number, line) = lines.next()?;
        at(number, line, "/header/packet_type", "this packet comes here")
    };
    let changed = |pointer: &str| {
        let ((number, fixed), line) = (same()?, line?);
        let [before, after]: [Value; 2] = [serde_json::from_str(line).ok()?, serde_json::from_str(fixed).ok()?];
        let (before, after) = (before.pointer(pointer)?, after.pointer(pointer)?);
        let mut found = pointer.to_owned();
        differs(before, after, &mut found).then(|| at(number, fixed, &found, "accepted here"))?
    };
    let here = || changed(finding.diagnostic.pointer.as_deref()?);
    let elsewhere = || changed("");
    // An unreadable line has no id, so it is matched by its line number.
    let reworded = || {
        let ((number, fixed), line) = (lines().find(|(number, _)| finding.line == Some(*number))?, line?);
        // Before the finding's position, the lines differ only in the `_try` suffix of the attempt's id.
        let longer = line.matches("_try\"").count() * "_try".len();
        let start = finding.diagnostic.span.as_ref()?.start.checked_sub(longer)?;
        let (rest, other) = (fixed.get(start..)?, line.get(start..)?);
        let same = rest.chars().rev().zip(other.chars().rev()).take_while(|(a, b)| a == b);
        let end = fixed.len() - same.map(|(a, _)| a.len_utf8()).sum::<usize>();
        Some(LabelledLine { number, line: fixed, span: start..end, label: "accepted here" })
    };
    match finding.stage {
        _ if id.is_none() && finding.stage != Stage::End => reworded(),
        Stage::Fsm | Stage::End => here().or_else(another).or_else(elsewhere),
        _ => here().or_else(elsewhere).or_else(another),
    }
}

fn at<'l>(number: u64, line: &'l str, pointer: &str, label: &'static str) -> Option<LabelledLine<'l>> {
    Some(LabelledLine { number, line, span: parse::locate(line, pointer)?, label })
}

/// Returns the id without the `_try` suffix of a rejected attempt.
fn attempted(id: &str) -> &str {
    id.strip_suffix("_try").unwrap_or(id)
}

fn id(line: &str) -> Option<String> {
    let span = parse::locate(line, "/header/packet_id")?;
    Some(line.get(span)?.trim_matches('"').to_owned())
}

/// Returns whether two values differ in more than a packet's id and time; `at` becomes the pointer to the first difference.
fn differs(before: &Value, after: &Value, at: &mut String) -> bool {
    let length = at.len();
    let mut inside = |key: &str, before: Option<&Value>, after: &Value| {
        pointer::push(at, key);
        let ignored = matches!(at.as_str(), "/header/packet_id" | "/header/created_at");
        let found = !ignored && before.is_none_or(|before| differs(before, after, at));
        if !found {
            at.truncate(length);
        }
        found
    };
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            after.iter().any(|(key, value)| inside(key, before.get(key), value)) || after.len() < before.len()
        }
        (Value::Array(before), Value::Array(after)) => {
            let last = after.len().checked_sub(1).filter(|_| after.len() < before.len());
            let mut elements = after.iter().enumerate();
            // If the list was shortened, its new last element counts as the difference.
            elements.any(|(index, value)| {
                let before = before.get(index).filter(|_| last != Some(index));
                inside(&index.to_string(), before, value)
            })
        }
        _ => before != after,
    }
}
