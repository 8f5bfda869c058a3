//! Layout of an explanation.

use std::io::Write as _;

use crate::exit::Failure;
use crate::output::Output;

pub(super) fn facts(out: &mut Output, known: impl IntoIterator<Item = (&'static str, String)>) -> Result<(), Failure> {
    for (name, value) in known {
        writeln!(out, "{}", wrap(&value, &format!("  {name:<12} "), &" ".repeat(15)))?;
    }
    Ok(())
}

pub(super) fn section(out: &mut Output, heading: &str, text: &str) -> Result<(), Failure> {
    writeln!(out, "\n{heading}\n{}", wrap(text, "  ", "  "))?;
    Ok(())
}

/// Writes a section without wrapping its lines.
pub(super) fn code(out: &mut Output, heading: &str, text: &str) -> Result<(), Failure> {
    writeln!(out, "\n{heading}\n{}", textwrap::indent(text, "  "))?;
    Ok(())
}

/// Wraps a text at spaces only, so that codes stay in one piece. `first` starts the first line, `rest` the others.
pub(super) fn wrap(text: &str, first: &str, rest: &str) -> String {
    let options = textwrap::Options::new(WIDTH)
        .break_words(false)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .initial_indent(first)
        .subsequent_indent(rest);
    textwrap::fill(text, options)
}

/// Maximum text width in columns.
const WIDTH: usize = 98;
