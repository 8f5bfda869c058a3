//! Replacement of values in a message, which keeps all other bytes.

use std::ops::Range;

use crate::frame::Frame;
use crate::json;

/// Returns a text with replaced values at some ranges, which must not overlap.
pub fn edited(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(span, _)| span.start);
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for (span, with) in &edits {
        out.push_str(text.get(at..span.start).unwrap_or_default());
        out.push_str(with);
        at = span.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// Returns the range of a member of `_meta` in parameters or a result.
pub fn meta(frame: &Frame, key: &str) -> Option<Range<usize>> {
    let members = frame.members().ok()?;
    let meta = members.iter().find(|member| member.key == "_meta")?;
    let members = json::members(frame.text(), meta.span.clone()).ok()?;
    members.iter().find(|member| member.key == key).map(|member| member.span.clone())
}

/// Returns the range of a member of the parameters or the result.
pub fn member(frame: &Frame, key: &str) -> Option<Range<usize>> {
    let members = frame.members().ok()?;
    members.iter().find(|member| member.key == key).map(|member| member.span.clone())
}

/// Returns a member of the parameters or the result that is a string.
pub fn text(frame: &Frame, key: &str) -> Option<String> {
    json::text(frame.text(), member(frame, key)?)
}
