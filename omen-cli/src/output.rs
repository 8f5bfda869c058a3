//! Standard output: buffered, coloured or plain, and never mixed up with the progress bar.

use std::io::{self, BufWriter, IsTerminal as _, Stdout, Write};

use anstream::{AutoStream, ColorChoice};
use clap::ValueEnum;
use indicatif::ProgressBar;
use omen::render::human::Human;

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Also in a pipe.
    Always,
    /// Not even on a terminal.
    Never,
}

/// The one writer to standard output. Flush it at the end: output that did not arrive is a failure.
pub(crate) struct Output {
    writer: BufWriter<Screen>,
    human: Human,
    is_terminal: bool,
    /// Whether to flush as soon as all input so far was handled.
    is_eager: bool,
}

impl Output {
    pub(crate) fn for_people(color: Color) -> Self {
        let choice = match color {
            // By the terminal, NO_COLOR, CLICOLOR and CLICOLOR_FORCE.
            Color::Auto => AutoStream::choice(&io::stdout()),
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        let human = if choice == ColorChoice::Never { Human::plain() } else { Human::coloured() };
        Self::new(choice, human)
    }

    /// Without colours; bytes pass unchanged.
    pub(crate) fn for_programs() -> Self {
        Self::new(ColorChoice::AlwaysAnsi, Human::plain())
    }

    fn new(choice: ColorChoice, human: Human) -> Self {
        let is_terminal = io::stdout().is_terminal();
        let screen = Screen { raw: AutoStream::new(io::stdout(), choice), bar: ProgressBar::hidden() };
        Self { writer: BufWriter::with_capacity(BUFFER, screen), human, is_terminal, is_eager: is_terminal }
    }

    /// Findings in the colours of this output.
    pub(crate) fn human(&self) -> &Human {
        &self.human
    }

    /// Prepares for the results of an input: hides its progress bar while something is written, and holds nothing back
    /// if the input is live, since its writer may be waiting.
    pub(crate) fn follow(&mut self, bar: &ProgressBar, is_live: bool) {
        self.writer.get_mut().bar = bar.clone();
        self.is_eager = is_live || self.is_terminal;
    }

    /// All input so far was handled. Flushes if somebody may be waiting for the results.
    pub(crate) fn caught_up(&mut self) -> io::Result<()> {
        if self.is_eager { self.flush() } else { Ok(()) }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

struct Screen {
    raw: AutoStream<Stdout>,
    bar: ProgressBar,
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bar.suspend(|| self.raw.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.bar.suspend(|| self.raw.flush())
    }
}

const BUFFER: usize = 64 * 1024;
