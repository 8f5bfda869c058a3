//! The diagnostic type for everything that can be wrong with a log. Renderers are in other crates.

use std::fmt;
use std::ops::Range;

use crate::code::Code;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Logged, and the packet is accepted.
    Warning,
    /// The packet is rejected.
    Error,
}

impl Severity {
    /// `error` or `warning`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One thing that is wrong with one packet, or with the end of an episode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The most specific rule that is broken (D37).
    pub code: Code,
    /// The other rules that the same thing breaks.
    pub also: Vec<Code>,
    /// How bad it is.
    pub severity: Severity,
    /// JSON pointer (RFC 6901) into the packet.
    pub pointer: Option<String>,
    /// Where in the packet's line, in bytes, if it is known.
    pub span: Option<Range<usize>>,
    /// What is wrong, with the figures that let the reader check it.
    pub message: String,
    /// A few words for the place itself.
    pub label: Option<String>,
    /// How to fix it.
    pub help: Option<String>,
    /// What `help` says to write, for programs, if it is one text in the place of `span`.
    pub edit: Option<Edit>,
    /// Facts from elsewhere in the log.
    pub notes: Vec<String>,
}

/// What to write in the place of the span of a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Edit {
    /// The text; empty to remove what is there.
    pub text: String,
    /// Whether it changes how something is written, and not what the log states. Others need the consent of a person.
    pub is_safe: bool,
}

impl Edit {
    /// An edit that changes nothing that the log states.
    #[must_use]
    pub fn safe(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_safe: true }
    }

    /// An edit that states something new, which only looks as if it was meant.
    #[must_use]
    pub fn needs_consent(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_safe: false }
    }
}

impl Diagnostic {
    /// An error with no more than code and message.
    #[cold]
    #[must_use]
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            also: Vec::new(),
            severity: Severity::Error,
            pointer: None,
            span: None,
            message: message.into(),
            label: None,
            help: None,
            edit: None,
            notes: Vec::new(),
        }
    }

    /// A warning with no more than code and message.
    #[cold]
    #[must_use]
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message) }
    }

    /// Line and column of its place in the text that it was found in: both from 1, columns in
    /// characters. `None` if the place is not known.
    #[must_use]
    pub fn position(&self, text: &str) -> Option<(u64, u64)> {
        let before = text.get(..self.span.as_ref()?.start)?;
        let line = before.matches('\n').count() as u64 + 1;
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) as u64 + 1;
        Some((line, column))
    }

    /// Adds the place, as a JSON pointer into the packet.
    #[must_use]
    pub fn at(mut self, pointer: impl Into<String>) -> Self {
        self.pointer = Some(pointer.into());
        self
    }

    /// Adds the other rules that the same thing breaks.
    #[must_use]
    pub fn also(mut self, codes: &[Code]) -> Self {
        self.also.extend_from_slice(codes);
        self
    }

    /// Adds a few words for the place itself.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Adds how to fix it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds what to write in the place of the span.
    #[must_use]
    pub fn edit(mut self, edit: Edit) -> Self {
        self.edit = Some(edit);
        self
    }

    /// Adds a fact from elsewhere in the log.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.severity, self.code)?;
        if let Some(pointer) = &self.pointer {
            write!(f, " at `{pointer}`")?;
        }
        write!(f, ": {}", self.message)?;
        if let Some(help) = &self.help {
            write!(f, "; help: {help}")?;
        }
        Ok(())
    }
}
