//! Findings for people: the position in the line, the rule, and the help.
//!
//! ```
//! use std::io::Write as _;
//!
//! use omen::{Finding, Sink, Validator, render::human::Human, validator::ValidatorOptions};
//!
//! struct Print;
//!
//! impl Sink for Print {
//!     type Error = std::io::Error;
//!
//!     fn finding(&mut self, finding: Finding, line: Option<&str>) -> std::io::Result<()> {
//!         write!(std::io::stdout(), "{}", Human::plain().finding("episode.jsonl", &finding, line))
//!     }
//! }
//!
//! let mut validator = Validator::new(ValidatorOptions::default());
//! validator.feed(b"not JSON\n", &mut Print)?;
//! assert_eq!(validator.finish(&mut Print)?.rejected, 1);
//! # std::io::Result::Ok(())
//! ```

use std::fmt::Write as _;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Padding, Renderer, Snippet};
use omen_types::{Severity, parse};
use textwrap::core::display_width;

pub use super::excerpt::clean;
use super::excerpt::{Window, excerpt};
use super::indented;
use crate::finding::{Cause, Finding, Stage};

/// Formatter of findings for people.
///
/// A packet is a line of thousands of columns, so only an excerpt around the position is shown, indented if the line is
/// long. The output contains only printable text and the formatter's own colours, whatever the log contains.
#[derive(Clone, Debug)]
pub struct Human {
    renderer: Renderer,
    width: Option<usize>,
    /// Whether the finding's packet is shown whole.
    is_whole: bool,
}

/// Parts of a finding, which may concern something other than a packet, such as an entry of an audit log.
#[derive(Clone, Debug)]
pub struct FindingParts<'p> {
    /// Severity.
    pub severity: Severity,
    /// Code.
    pub code: &'p str,
    /// Violated rule: its codes and its title.
    pub rule: String,
    /// Description of the problem.
    pub message: &'p str,
    /// Position, as `FILE:LINE:COLUMN`.
    pub location: String,
    /// Facts shown after the position; may be empty.
    pub facts: String,
    /// Line with its number, and the position in it.
    pub excerpt: Option<(u64, &'p str, Range<usize>)>,
    /// Whether the position is that of a field in an object; a long line is then shown indented.
    pub is_object: bool,
    /// Label of the position.
    pub label: Option<&'p str>,
    /// Way to fix the problem.
    pub help: Option<&'p str>,
    /// Facts from elsewhere.
    pub notes: Vec<String>,
}

impl Human {
    /// Creates a formatter without colours.
    #[must_use]
    pub fn plain() -> Self {
        Self::with(Renderer::plain())
    }

    /// Creates a formatter with ANSI colours.
    #[must_use]
    pub fn coloured() -> Self {
        Self::with(Renderer::styled())
    }

    /// Disables the renderer's truncation, because excerpts already have the right length.
    fn with(renderer: Renderer) -> Self {
        Self { renderer: renderer.term_width(1000), width: None, is_whole: false }
    }

    /// Sets the width of the terminal, at least 40 columns: no line is longer. A wider terminal shows more of the log;
    /// texts never exceed 88 columns.
    ///
    /// ```
    /// # use omen::{Finding, Validator, ValidatorOptions, render::human::Human};
    /// # let mut validator = Validator::new(ValidatorOptions::default());
    /// # let mut findings: Vec<Finding> = Vec::new();
    /// # let Ok(()) = validator.feed(b"not JSON\n", &mut findings);
    /// let text = Human::plain().width(40).finding("episode.jsonl", &findings[0], Some("not JSON"));
    /// assert!(text.lines().all(|line| line.len() <= 40));
    /// ```
    #[must_use]
    pub fn width(mut self, columns: usize) -> Self {
        self.width = Some(columns.max(NARROWEST));
        self
    }

    /// Shows the whole packet of each finding, indented, instead of an excerpt.
    #[must_use]
    pub fn whole(mut self) -> Self {
        self.is_whole = true;
        self
    }

    /// Formats a finding as several lines with a newline at the end. `line` is the text of its line; without it, or if
    /// the position is unknown, no excerpt is shown.
    #[must_use]
    pub fn finding(&self, file: &str, finding: &Finding, line: Option<&str>) -> String {
        let diagnostic = &finding.diagnostic;
        let excerpt = line.zip(finding.line).and_then(|(line, number)| {
            let pointed = || parse::locate(line, diagnostic.pointer.as_deref()?);
            Some((number, line, diagnostic.span.clone().or_else(pointed)?))
        });
        let follows = finding.follows_from.as_ref().map(|Cause { line, packet_id }| {
            let packet = packet_id.as_ref().map(|id| format!(" (packet {id})")).unwrap_or_default();
            format!("follows from line {line}{packet}")
        });
        let code = diagnostic.code;
        self.parts(&FindingParts {
            severity: diagnostic.severity,
            code: code.as_str(),
            rule: rule(finding),
            message: &diagnostic.message,
            location: location(file, finding),
            facts: facts(finding),
            excerpt,
            // A syntax error has a position in the text, not in an object.
            is_object: diagnostic.pointer.is_some(),
            label: diagnostic.label.as_deref(),
            help: diagnostic.help.as_deref(),
            notes: diagnostic.notes.iter().cloned().chain(follows).collect(),
        })
    }

    /// Formats the parts of a finding in the same way as a finding on a packet.
    #[must_use]
    pub fn parts(&self, parts: &FindingParts<'_>) -> String {
        let FindingParts { severity, code, excerpt, label, .. } = parts;
        let level = match severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let margin = excerpt.as_ref().map_or(0, |(number, ..)| digits(*number));
        let is_indented = self.is_whole || parts.is_object;
        // `error[E4]: `
        let title = self.wrap(parts.message, None, severity.as_str().len() + code.len() + 4);
        let head = level.clone().primary_title(title).id(*code);
        let head = head.element(Origin::path(self.origin(&parts.location, &parts.facts, margin)));
        let mut body = Group::with_level(level);
        let mut note = None;
        if let Some((number, line, span)) = excerpt {
            let indented = is_indented.then(|| self.indented(*number, line, span, *label)).flatten();
            let (snippet, rest) = indented.unwrap_or_else(|| self.snippet(*number, line, span, *label));
            body = body.element(snippet);
            note = rest;
        }
        body = body.element(Padding);
        if let Some(label) = note {
            body = body.element(self.footer("note", &label, margin));
        }
        // The title is kept on one line if there is space for it.
        let prefix = margin + "rule".len() + 5;
        let rule = Level::NOTE.with_name(Some("rule")).message(self.wrap(&parts.rule, None, prefix));
        body = body.element(rule);
        if let Some(help) = parts.help {
            body = body.element(self.footer("help", help, margin));
        }
        for note in &parts.notes {
            body = body.element(self.footer("note", note, margin));
        }
        self.render(head, body)
    }

    /// Formats a position without a finding: an excerpt with a label.
    #[must_use]
    pub fn place(&self, origin: &str, number: u64, line: &str, span: &Range<usize>, label: &str) -> String {
        let margin = digits(number);
        let head = Group::with_level(Level::HELP).element(Origin::path(self.origin(origin, "", margin)));
        let (snippet, note) = self.snippet(number, line, span, Some(label));
        let mut body = Group::with_level(Level::HELP).element(snippet);
        if let Some(label) = note {
            body = body.element(Padding).element(self.footer("note", &label, margin));
        }
        self.render(head, body)
    }

    /// Wraps a standalone text, if the width is known, and makes it safe to print.
    #[must_use]
    pub fn fit(&self, text: &str) -> String {
        self.wrap(text, None, 0)
    }

    /// Returns an excerpt of a line, and the label if it does not fit after the caret.
    fn snippet<'a>(
        &self,
        number: u64,
        line: &str,
        span: &Range<usize>,
        label: Option<&str>,
    ) -> (Snippet<'a, annotate_snippets::Annotation<'a>>, Option<String>) {
        let label = label.map(|label| clean(label).into_owned());
        let columns = label.as_deref().map_or(0, display_width);
        let excerpt = excerpt(line, span, columns, self.window(number));
        let (label, note) = if excerpt.has_label { (label, None) } else { (None, label) };
        let snippet = Snippet::source(excerpt.text)
            .line_start(usize::try_from(number).unwrap_or(usize::MAX))
            .annotation(AnnotationKind::Primary.span(excerpt.span).label(label));
        (snippet, note.filter(|label| !label.is_empty()))
    }

    /// Returns the part of a long packet around a span as indented lines, or the whole packet; `None` for a short packet.
    fn indented<'a>(
        &self,
        number: u64,
        line: &str,
        span: &Range<usize>,
        label: Option<&str>,
    ) -> Option<(Snippet<'a, annotate_snippets::Annotation<'a>>, Option<String>)> {
        let (rows, marked) = match self.is_whole {
            true => indented::whole(line, span.start)?,
            false if line.len() > LONG => indented::around(line, span.start)?,
            false => return None,
        };
        let label = label.map(|label| clean(label).into_owned());
        let columns = label.as_deref().map_or(0, display_width);
        let (outdent, window) = (indented::outdent(&rows), self.window(number));
        let (mut source, mut place, mut has_label) = (String::new(), 0..0, false);
        for (at, row) in rows.iter().enumerate() {
            if at > 0 {
                source.push('\n');
            }
            let Some(row) = row else {
                source.push_str(&indented::gap(rows.get(at + 1).and_then(Option::as_ref), outdent));
                continue;
            };
            let (text, span) = row.text(line, span, outdent);
            let shown = match at == marked {
                true => excerpt(&text, &span, columns, window),
                false => excerpt(&text, &(0..0), 0, window),
            };
            if at == marked {
                (place, has_label) = (source.len() + shown.span.start..source.len() + shown.span.end, shown.has_label);
            }
            source.push_str(&shown.text);
        }
        let (label, note) = if has_label { (label, None) } else { (None, label) };
        // All rows are on one line of the log, whose number is shown in the position.
        let snippet = Snippet::source(source)
            .line_start(usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(rows.len()).max(1))
            .line_numbering(false)
            .fold(false)
            .annotation(AnnotationKind::Primary.span(place).label(label));
        Some((snippet, note.filter(|label| !label.is_empty())))
    }

    /// Returns the space for a line of an excerpt.
    fn window(&self, number: u64) -> Window {
        // `12 | `
        self.width.map_or(Window::UNBOUNDED, |width| Window {
            columns: width.saturating_sub(digits(number) + 3),
            overhang: Some(0),
        })
    }

    /// Returns a text for the end of a finding: ` = help: …`.
    fn footer<'a>(&self, name: &'static str, text: &str, margin: usize) -> Element<'a> {
        let level = if name == "help" { Level::HELP } else { Level::NOTE };
        level.with_name(Some(name)).message(self.wrap(text, Some(FOOTER), margin + name.len() + 5)).into()
    }

    /// Returns the position of a finding and the known facts about its packet, on further lines if they do not fit.
    fn origin(&self, location: &str, facts: &str, margin: usize) -> String {
        let (location, facts) = (clean(location), clean(facts));
        // ` --> `
        let indent = margin + 5;
        let whole = [&*location, &*facts].join(if facts.is_empty() { "" } else { "   " });
        if self.width.is_none_or(|width| indent + display_width(&whole) <= width) {
            return whole;
        }
        let mut lines = self.wrap(&location, None, indent);
        if !facts.is_empty() {
            lines.push('\n');
            lines.push_str(&self.wrap(&facts, None, indent));
        }
        lines.replace('\n', &format!("\n{}", " ".repeat(indent)))
    }

    /// Wraps a text at spaces: codes, ids and pointers are not broken unless they are longer than a line of the
    /// terminal. `most` is the maximum width for readability, `prefix` the number of columns before the text.
    fn wrap(&self, text: &str, most: Option<usize>, prefix: usize) -> String {
        let text = clean(text);
        let room = self.width.map(|width| width.saturating_sub(prefix));
        let Some(columns) = most.into_iter().chain(room).min() else { return text.into_owned() };
        let options = textwrap::Options::new(columns)
            .break_words(room.is_some())
            .word_separator(textwrap::WordSeparator::AsciiSpace)
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        textwrap::fill(&text, options)
    }

    /// In a single group, the renderer would treat a snippet after an origin as a second file; and it separates the
    /// first group from the others. So head and body are separate groups, preceded by an empty one.
    fn render(&self, head: Group<'_>, body: Group<'_>) -> String {
        let text = self.renderer.render(&[Group::with_level(Level::NOTE), head, body]);
        format!("{}\n", text.trim_start_matches('\n'))
    }
}

/// Returns `file:line:column`, without any unknown parts.
fn location(file: &str, finding: &Finding) -> String {
    match (finding.line, finding.column) {
        (Some(line), Some(column)) => format!("{file}:{line}:{column}"),
        (Some(line), None) => format!("{file}:{line}"),
        (None, _) if finding.stage == Stage::End => format!("{file} (end of the stream)"),
        (None, _) => file.to_owned(),
    }
}

/// Returns `packet ID · TYPE · episode ID · state STATE`, without any unknown parts.
fn facts(finding: &Finding) -> String {
    let mut facts = Vec::new();
    if let Some(id) = &finding.packet_id {
        let line = finding.directive_line.map(|line| format!(" in line {line}")).unwrap_or_default();
        facts.push(format!("packet {id}{line}"));
    }
    if let Some(packet_type) = finding.packet_type {
        facts.push(packet_type.as_str().to_owned());
    }
    if let Some(id) = &finding.correlation_id {
        facts.push(format!("episode {id}"));
    }
    if let Some(state) = &finding.state {
        facts.push(format!("state {}", state.join(" or ")));
    }
    facts.join(" · ")
}

/// Returns ``E4, INV-007: title (`omen explain E4`)``.
fn rule(finding: &Finding) -> String {
    let code = finding.diagnostic.code;
    let mut codes = code.as_str().to_owned();
    for also in &finding.diagnostic.also {
        let _ = write!(codes, ", {also}");
    }
    format!("{codes}: {} (`omen explain {code}`)", code.info().title)
}

fn digits(number: u64) -> usize {
    number.checked_ilog10().map_or(1, |log| log as usize + 1)
}

/// Length in bytes above which a line is shown indented.
const LONG: usize = 400;

/// Maximum width of a footer in columns.
const FOOTER: usize = 88;

/// Minimum width of a terminal in columns.
const NARROWEST: usize = 40;

#[cfg(test)]
mod tests {
    use super::{FOOTER, Human};

    #[test]
    fn lines_break_at_spaces_only() {
        let prose = |text: &str| Human::plain().wrap(text, Some(FOOTER), 10);
        let words = ["INV-007"; 30].join(" ");
        let wrapped = prose(&words);
        assert!(wrapped.lines().count() > 1 && wrapped.lines().all(|line| line.len() <= FOOTER), "{wrapped}");
        assert_eq!(wrapped.replace('\n', " "), words);
        let pointer = "/a-b/".repeat(FOOTER);
        assert_eq!(prose(&format!("at {pointer}")), format!("at\n{pointer}"));
        assert_eq!(prose(""), "");
    }

    /// A terminal would break such a word anyway.
    #[test]
    fn a_word_longer_than_a_line_of_the_terminal_is_broken() {
        let pointer = "/a-b".repeat(30);
        let wrapped = Human::plain().width(50).wrap(&pointer, Some(FOOTER), 10);
        assert!(wrapped.lines().all(|line| line.len() <= 40), "{wrapped}");
        assert_eq!(wrapped.replace('\n', ""), pointer);
    }
}
