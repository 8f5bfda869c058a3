//! Findings for people: the place in the line, the rule, and the help.
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

pub use super::excerpt::clean;
use super::excerpt::excerpt;
use crate::finding::{Cause, Finding, Stage};

/// Writes findings for people.
///
/// A packet is a line of thousands of columns, so an excerpt around the place is shown. Whatever the log contains, only
/// printable text and the colours of this renderer are written.
#[derive(Clone, Debug)]
pub struct Human {
    renderer: Renderer,
}

impl Human {
    /// Without colours.
    #[must_use]
    pub fn plain() -> Self {
        Self::with(Renderer::plain())
    }

    /// With ANSI colours.
    #[must_use]
    pub fn coloured() -> Self {
        Self::with(Renderer::styled())
    }

    /// Excerpts have their length already; the renderer must not cut them again.
    fn with(renderer: Renderer) -> Self {
        Self { renderer: renderer.term_width(1000) }
    }

    /// Formats a finding, in several lines with a newline at the end. `line` is the text of its line: without it, or if the
    /// place is unknown, no excerpt is shown.
    #[must_use]
    pub fn finding(&self, file: &str, finding: &Finding, line: Option<&str>) -> String {
        let diagnostic = &finding.diagnostic;
        let level = match diagnostic.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let head = level
            .clone()
            .primary_title(clean(&diagnostic.message))
            .id(diagnostic.code.as_str())
            .element(Origin::path(origin(file, finding)));
        let mut body = Group::with_level(level);
        if let (Some(line), Some(number)) = (line, finding.line) {
            let pointed = || parse::locate(line, diagnostic.pointer.as_deref()?);
            if let Some(span) = diagnostic.span.clone().or_else(pointed) {
                body = body.element(snippet(number, line, &span, diagnostic.label.as_deref()));
            }
        }
        body = body.element(Padding).element(footer("rule", rule(finding)));
        if let Some(help) = &diagnostic.help {
            body = body.element(footer("help", prose(help)));
        }
        for note in &diagnostic.notes {
            body = body.element(footer("note", prose(note)));
        }
        if let Some(Cause { line, packet_id }) = &finding.follows_from {
            let packet = packet_id.as_ref().map(|id| format!(" (packet {})", clean(id))).unwrap_or_default();
            body = body.element(footer("note", format!("follows from line {line}{packet}")));
        }
        self.render(head, body)
    }

    /// Formats a place without a finding: an excerpt, with a label.
    #[must_use]
    pub fn place(&self, origin: &str, number: u64, line: &str, span: &Range<usize>, label: &str) -> String {
        let head = Group::with_level(Level::HELP).element(Origin::path(clean(origin)));
        let body = Group::with_level(Level::HELP).element(snippet(number, line, span, Some(label)));
        self.render(head, body)
    }

    /// The renderer takes a snippet after an origin in one group for a second file, and separates the first group from the
    /// others. So head and body are separate groups, after an empty one.
    fn render(&self, head: Group<'_>, body: Group<'_>) -> String {
        let text = self.renderer.render(&[Group::with_level(Level::NOTE), head, body]);
        format!("{}\n", text.trim_start_matches('\n'))
    }
}

/// `file:line:column   packet ID · TYPE · episode ID · state STATE`, without the unknown parts.
fn origin(file: &str, finding: &Finding) -> String {
    let mut text = clean(file).into_owned();
    match (finding.line, finding.column) {
        (Some(line), Some(column)) => drop(write!(text, ":{line}:{column}")),
        (Some(line), None) => drop(write!(text, ":{line}")),
        (None, _) if finding.stage == Stage::End => text.push_str(" (end of the stream)"),
        (None, _) => {}
    }
    let mut facts = Vec::new();
    if let Some(id) = &finding.packet_id {
        let line = finding.directive_line.map(|line| format!(" in line {line}")).unwrap_or_default();
        facts.push(format!("packet {}{line}", clean(id)));
    }
    if let Some(packet_type) = finding.packet_type {
        facts.push(packet_type.as_str().to_owned());
    }
    if let Some(id) = &finding.correlation_id {
        facts.push(format!("episode {}", clean(id)));
    }
    if let Some(state) = &finding.state {
        facts.push(format!("state {}", state.join(" or ")));
    }
    if !facts.is_empty() {
        let _ = write!(text, "   {}", facts.join(" · "));
    }
    text
}

/// ``E4, INV-007: title (`omen explain E4`)``
fn rule(finding: &Finding) -> String {
    let code = finding.diagnostic.code;
    let mut codes = code.as_str().to_owned();
    for also in &finding.diagnostic.also {
        let _ = write!(codes, ", {also}");
    }
    format!("{codes}: {} (`omen explain {code}`)", code.info().title)
}

fn snippet<'a>(
    number: u64,
    line: &str,
    span: &Range<usize>,
    label: Option<&str>,
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let label = label.map(|label| clean(label).into_owned());
    let excerpt = excerpt(line, span, label.as_ref().map_or(0, |label| label.chars().count()));
    Snippet::source(excerpt.text)
        .line_start(usize::try_from(number).unwrap_or(usize::MAX))
        .annotation(AnnotationKind::Primary.span(excerpt.span).label(label))
}

fn footer<'a>(name: &'static str, text: String) -> Element<'a> {
    let level = if name == "help" { Level::HELP } else { Level::NOTE };
    level.with_name(Some(name)).message(text).into()
}

/// Wraps at spaces only: codes, ids and pointers stay whole.
fn prose(text: &str) -> String {
    let options = textwrap::Options::new(FOOTER)
        .break_words(false)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::fill(&clean(text), options)
}

/// Columns of the text of a footer.
const FOOTER: usize = 88;

#[cfg(test)]
mod tests {
    use super::{FOOTER, prose};

    #[test]
    fn lines_break_at_spaces_only() {
        let words = ["INV-007"; 30].join(" ");
        let wrapped = prose(&words);
        assert!(wrapped.lines().count() > 1 && wrapped.lines().all(|line| line.len() <= FOOTER), "{wrapped}");
        assert_eq!(wrapped.replace('\n', " "), words);
        let pointer = "/a-b/".repeat(FOOTER);
        assert_eq!(prose(&format!("at {pointer}")), format!("at\n{pointer}"));
        assert_eq!(prose(""), "");
    }
}
