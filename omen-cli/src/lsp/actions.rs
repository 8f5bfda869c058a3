//! Changes that the editor offers: the fixes of `omen check --fix`.

use std::io::Cursor;
use std::ops::Range;

use serde_json::{Value, json};

use super::documents::{OpenDocument, PlacedFinding};
use super::protocol::{ActionParams, ClientSupport, FIX_ALL, QUICK_FIX};
use super::text::{IndexedText, log_lines};
use crate::check::TextCheck;
use crate::fix::{self, Replacement};
use crate::formats;
use crate::input::{self, Layout, MARK};

/// The fixes of a log that the editor asks for.
pub(super) fn actions(
    document: &OpenDocument,
    text: &IndexedText,
    check: &TextCheck,
    params: &ActionParams,
    client: ClientSupport,
) -> Vec<Value> {
    // `omen check --fix` leaves other layouts alone.
    if check.layout() == Layout::Array || input::has_array(Cursor::new(text.as_str().as_bytes().to_vec())) {
        return Vec::new();
    }
    let wants = |kind: &str| {
        let only = params.context.only.as_ref();
        only.is_none_or(|only| only.iter().any(|wanted| is_kind(kind, wanted)))
    };
    let mut actions = Vec::new();
    if wants(QUICK_FIX) {
        actions = quick_fixes(document, text, check, params, client);
    }
    if wants(FIX_ALL) {
        actions.extend(fix_all(document, text, check, client));
    }
    actions
}

/// Whether a kind is another one, or one of its parts.
fn is_kind(kind: &str, wanted: &str) -> bool {
    kind.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The fixes at a range; safe ones come first.
fn quick_fixes(
    document: &OpenDocument,
    text: &IndexedText,
    check: &TextCheck,
    params: &ActionParams,
    client: ClientSupport,
) -> Vec<Value> {
    let (asked, places) = (text.bytes(params.range), LineBytes::new(text.as_str()));
    let edits = fix::text_edits(text.as_str(), check.options());
    let mut found = Vec::new();
    for (number, (_, replacements)) in &edits.lines {
        let Some(line) = places.line(*number) else { continue };
        for replacement in replacements {
            let range = line.start + replacement.span.start..line.start + replacement.span.end;
            let is_here = |place: &Range<usize>| place.start <= asked.end && asked.start <= place.end;
            // A missing field is added elsewhere than it is reported.
            let is_reported = |finding: &PlacedFinding| finding.code == replacement.code && is_here(&finding.range);
            if is_here(&range)
                || document.findings.iter().any(|finding| is_reported(finding) && line.contains(&finding.range.start))
            {
                found.push((range, line.clone(), replacement));
            }
        }
    }
    found.sort_by_key(|(range, _, replacement)| (!replacement.is_safe, range.start));
    let fixes = found.into_iter().map(|(range, line, replacement)| {
        let old = text.as_str().get(range.clone()).unwrap_or_default();
        let range = places.whole(range, &line, replacement);
        let is_of_rule = |diagnostic: &&Value| diagnostic["code"] == replacement.code.as_str();
        let diagnostics: Vec<_> = params.context.diagnostics.iter().filter(is_of_rule).collect();
        json!({
            "title": title(old, replacement),
            "kind": QUICK_FIX,
            "diagnostics": diagnostics,
            "isPreferred": replacement.is_safe,
            "edit": edit(document, &json!([{"range": text.range(&range), "newText": replacement.text}]), client),
        })
    });
    fixes.take(MOST_FIXES).collect()
}

/// Describes a fix.
fn title(old: &str, replacement: &Replacement) -> String {
    let [old, new] = [old, &replacement.text].map(|text| formats::cut(text, MOST_CHARACTERS));
    let what =
        if replacement.text.is_empty() { format!("Remove `{old}`") } else { format!("Replace `{old}` by `{new}`") };
    if replacement.is_safe { what } else { format!("{what} (unsafe: likely, but not certain, to be intended)") }
}

/// The action that applies all safe fixes, as `omen check --fix` does.
fn fix_all(document: &OpenDocument, text: &IndexedText, check: &TextCheck, client: ClientSupport) -> Option<Value> {
    let places = LineBytes::new(text.as_str());
    let edits: Vec<_> = fix::fixed_lines(text.as_str(), check.options())
        .into_iter()
        .filter_map(|(number, fixed)| {
            let line = places.line(number)?;
            let range = if fixed.is_empty() { places.with_end(&line) } else { line };
            Some(json!({"range": text.range(&range), "newText": fixed}))
        })
        .collect();
    if edits.is_empty() {
        return None;
    }
    let title = "Apply all safe fixes of `omen check --fix`";
    Some(json!({"title": title, "kind": FIX_ALL, "edit": edit(document, &json!(edits), client)}))
}

/// An edit, of the version that it was made for if the editor understands that.
fn edit(document: &OpenDocument, edits: &Value, client: ClientSupport) -> Value {
    if !client.document_changes {
        return json!({"changes": {&document.uri: edits}});
    }
    let id = json!({"uri": document.uri, "version": document.version});
    json!({"documentChanges": [{"textDocument": id, "edits": edits}]})
}

/// The bytes of the lines of a log, without a byte order mark and line ends.
struct LineBytes<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> LineBytes<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, starts: log_lines(text) }
    }

    fn line(&self, number: u64) -> Option<Range<usize>> {
        let at = usize::try_from(number.checked_sub(1)?).ok()?;
        let start = *self.starts.get(at)?;
        let end = self.starts.get(at + 1).copied().unwrap_or(self.text.len());
        let line = self.text.get(start..end)?;
        let mark = if at == 0 && line.as_bytes().starts_with(MARK) { MARK.len() } else { 0 };
        let line = line.strip_suffix('\n').unwrap_or(line);
        Some(start + mark..start + line.strip_suffix('\r').unwrap_or(line).len())
    }

    fn with_end(&self, line: &Range<usize>) -> Range<usize> {
        let next = self.starts.iter().find(|start| **start > line.end).copied();
        line.start..next.unwrap_or(self.text.len())
    }

    /// The range of a replacement; a line that it would leave empty goes with its end.
    fn whole(&self, range: Range<usize>, line: &Range<usize>, replacement: &Replacement) -> Range<usize> {
        if replacement.text.is_empty() && range == *line { self.with_end(line) } else { range }
    }
}

/// The most fixes that are offered at once.
const MOST_FIXES: usize = 50;

/// The most characters of a title that come from the log, before and after a fix.
const MOST_CHARACTERS: usize = 60;

#[cfg(test)]
mod tests {
    use super::is_kind;

    #[test]
    fn a_kind_has_parts() {
        for wanted in ["source", "source.fixAll", "source.fixAll.omen", ""] {
            assert!(wanted.is_empty() || is_kind("source.fixAll.omen", wanted), "{wanted}");
        }
        for wanted in ["source.fix", "source.fixAll.omen.x", "quickfix"] {
            assert!(!is_kind("source.fixAll.omen", wanted), "{wanted}");
        }
    }
}
