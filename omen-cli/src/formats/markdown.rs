//! Markdown for the summary of a CI job: the totals, and the findings with positions and help.
//!
//! GitHub rejects a summary larger than 1 MiB as a whole, so the report is bounded, and states how much it omits.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;

use omen::render::human::clean;

use super::format::{Report, ReportFormat, Totals};
use super::shown::AnyFinding;
use super::{concise, human, prose};
use crate::input;
use crate::output::Output;

pub(super) const FORMAT: ReportFormat = ReportFormat {
    name: "markdown",
    about: "Markdown, for the summary of a job on GitHub",
    is_for_people: false,
    start: || Box::new(Markdown::default()),
};

/// Report in Markdown. The list of findings is kept because it comes after the totals.
#[derive(Default)]
struct Markdown {
    list: String,
    /// Number of findings in the list.
    shown: u64,
    /// Number of unreadable inputs missing from the list.
    left_out: u64,
}

impl Markdown {
    /// Adds an item if it fits. Returns whether it was added.
    fn add(&mut self, item: &str) -> bool {
        let has_room = self.list.len() + item.len() <= MOST_BYTES;
        if has_room {
            self.list.push_str(item);
        }
        has_room
    }
}

impl Report for Markdown {
    fn finding(&mut self, _: &mut Output, path: &Path, finding: AnyFinding<'_>, _: Option<&str>) -> io::Result<()> {
        let severity = finding.severity();
        let (place, codes) = (escape(concise::place(path, finding)), prose::codes(finding));
        let message = prose::message(finding);
        let mut item = format!("- **{severity} {codes}** {place}: {}", escape(prose::cut(&message, MOST_CHARACTERS)));
        if let Some(help) = finding.help() {
            // In Markdown, a backslash at the end of a line is a line break.
            let _ = write!(item, "\\\n  *help:* {}", escape(prose::cut(&clean(help), MOST_CHARACTERS)));
        }
        item.push('\n');
        self.shown += u64::from(self.add(&item));
        Ok(())
    }

    fn unreadable(&mut self, _: &mut Output, path: &Path, reason: &str) -> io::Result<()> {
        let name = input::name(path);
        let item = format!("- **error** {}: cannot read the log: {}\n", escape(clean(&name)), escape(clean(reason)));
        self.left_out += u64::from(!self.add(&item));
        Ok(())
    }

    fn totals(&mut self, out: &mut Output, totals: &Totals<'_>) -> io::Result<()> {
        writeln!(out, "## omen check\n\n{}", human::TotalsLine(totals))?;
        let mut rows = totals.statistics.codes().peekable();
        if rows.peek().is_some() {
            writeln!(out, "\n| Code | Rule | Root causes | Errors | Warnings |\n|---|---|--:|--:|--:|")?;
        }
        for (code, counts) in rows {
            let title = escape(code.title());
            writeln!(
                out,
                "| {} | {title} | {} | {} | {} |",
                code.as_str(),
                counts.roots(),
                counts.errors,
                counts.warnings
            )?;
        }
        if !self.list.is_empty() {
            write!(out, "\n### Findings\n\n{}", self.list)?;
        }
        let all = totals.summary.errors + totals.summary.warnings + self.left_out;
        match all.saturating_sub(self.shown) {
            0 => Ok(()),
            1 => writeln!(out, "\n1 more finding is not shown here."),
            more => writeln!(out, "\n{more} more findings are not shown here."),
        }
    }
}

/// Escapes a single-line text so that it forms no link, HTML, table cell or formula.
fn escape<'t>(text: impl Into<Cow<'t, str>>) -> String {
    let text = text.into();
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            // A backslash before a pipe or backtick means different things inside and outside a table.
            '|' | '`' | '<' | '>' | '&' | '\\' => drop(write!(escaped, "&#{};", u32::from(c))),
            // GitHub also turns `www.` into a link.
            '.' if escaped.ends_with('w') => escaped.push_str("\\."),
            c if c.is_ascii_punctuation() && !PLAIN.contains(c) => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Punctuation without special meaning inside a line.
const PLAIN: &str = ",.;/-'\"?%";

/// Maximum size of the list in bytes; with the totals, the summary stays below 1 MiB.
const MOST_BYTES: usize = 1_000_000;

/// Maximum length of a message, and of a help text, in characters.
const MOST_CHARACTERS: usize = 2000;

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn a_text_cannot_be_markdown() {
        assert_eq!(escape("a | `b` <i>&"), "a &#124; &#96;b&#96; &#60;i&#62;&#38;");
        assert_eq!(escape("[x](http://y) *z* $a$ #1 \\"), "\\[x\\]\\(http\\://y\\) \\*z\\* \\$a\\$ \\#1 &#92;");
        assert_eq!(escape("logs/a.jsonl, 'é'"), "logs/a.jsonl, 'é'");
        assert_eq!(escape("www.x.org"), "www\\.x.org");
    }
}
