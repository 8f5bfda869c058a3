//! Standard output: buffered, coloured or not, and never mixed up with the progress bar.

use std::io::{self, BufWriter, IsTerminal as _, Stdout, Write};

use anstream::{AutoStream, ColorChoice};
use indicatif::ProgressBar;
use omen::render::human::Human;

use super::args::Color;

/// The one writer to standard output. What is written must be flushed at the end, for a verdict
/// that did not arrive is a failure.
pub(crate) struct Output {
    writer: BufWriter<Screen>,
    human: Human,
    terminal: bool,
}

impl Output {
    pub(crate) fn for_people(color: Color) -> Self {
        let choice = match color {
            // Looks at the terminal, NO_COLOR, CLICOLOR and CLICOLOR_FORCE.
            Color::Auto => AutoStream::choice(&io::stdout()),
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        let human = if choice == ColorChoice::Never { Human::plain() } else { Human::coloured() };
        Self::new(choice, human)
    }

    /// Bytes pass as they are.
    pub(crate) fn for_programs() -> Self {
        Self::new(ColorChoice::AlwaysAnsi, Human::plain())
    }

    fn new(choice: ColorChoice, human: Human) -> Self {
        let terminal = io::stdout().is_terminal();
        let screen = Screen { raw: AutoStream::new(io::stdout(), choice), bar: ProgressBar::hidden() };
        Self { writer: BufWriter::with_capacity(BUFFER, screen), human, terminal }
    }

    /// Findings in the colours of this output.
    pub(crate) fn human(&self) -> &Human {
        &self.human
    }

    /// Whether a person watches.
    pub(crate) fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// The bar to hide while something is written.
    pub(crate) fn behind(&mut self, bar: ProgressBar) {
        self.writer.get_mut().bar = bar;
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
