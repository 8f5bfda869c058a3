//! Other values at some places of a message, and every other byte as it came.

use std::ops::Range;

use crate::frame::Frame;
use crate::json;

/// A text with other values at some places, which do not overlap.
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

/// Where a member of `_meta` stands, in parameters or a result.
pub fn meta(frame: &Frame, key: &str) -> Option<Range<usize>> {
    let members = frame.members().ok()?;
    let meta = members.iter().find(|member| member.key == "_meta")?;
    let members = json::members(frame.text(), meta.span.clone()).ok()?;
    members.iter().find(|member| member.key == key).map(|member| member.span.clone())
}

/// Where a member of the parameters or of the result stands.
pub fn member(frame: &Frame, key: &str) -> Option<Range<usize>> {
    let members = frame.members().ok()?;
    members.iter().find(|member| member.key == key).map(|member| member.span.clone())
}

/// A member of the parameters or of the result that is a string.
pub fn text(frame: &Frame, key: &str) -> Option<String> {
    json::text(frame.text(), member(frame, key)?)
}
