//! Standard output and report files: buffered, coloured or plain, and never mixed with the progress bar.

mod draft;

use std::env;
use std::fmt;
use std::io::{self, BufWriter, IsTerminal as _, Stdout, Write};
use std::path::{Path, PathBuf};

use anstream::{AutoStream, ColorChoice};
use clap::ValueEnum;
use indicatif::ProgressBar;
use omen::render::human::Human;
use serde::Serialize;

use self::draft::Draft;
pub(crate) use self::draft::{is_descriptor, remove_at_signals, replace_private};

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set, or where FORCE_COLOR is set.
    Auto,
    /// Also in a pipe.
    Always,
    /// Not even on a terminal.
    Never,
}

/// Writer to standard output (the only one), or to a file. Flush it at the end: lost output is a failure.
pub(crate) struct Output {
    writer: BufWriter<OutputTarget>,
    human: Human,
    /// Whether this output has colours.
    pub(crate) is_coloured: bool,
    /// Whether a person or a program may be waiting for each line, whatever the input is.
    is_watched: bool,
    /// Whether to flush as soon as all input so far has been handled.
    is_eager: bool,
}

impl Output {
    pub(crate) fn for_people(color: Color) -> Self {
        let choice = match (color, forced()) {
            (Color::Always, _) | (Color::Auto, Some(true)) => ColorChoice::Always,
            (Color::Never, _) | (Color::Auto, Some(false)) => ColorChoice::Never,
            // Decided by the terminal, NO_COLOR, CLICOLOR and CLICOLOR_FORCE.
            (Color::Auto, None) => AutoStream::choice(&io::stdout()),
        };
        Self::new(choice, choice != ColorChoice::Never)
    }

    /// Creates an output without colours, which passes bytes through unchanged.
    pub(crate) fn for_programs() -> Self {
        Self::new(ColorChoice::AlwaysAnsi, false)
    }

    /// Writes a value as one line of JSON, in a single call so that other output cannot split the line.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        let mut text = serde_json::to_vec(value)?;
        text.push(b'\n');
        self.write_all(&text)
    }

    fn new(choice: ColorChoice, is_coloured: bool) -> Self {
        let is_terminal = io::stdout().is_terminal();
        let screen = Screen { raw: AutoStream::new(io::stdout(), choice), bar: ProgressBar::hidden() };
        let mut output = Self::with(OutputTarget::Screen(screen), is_coloured, is_terminal);
        if let Some(columns) = columns() {
            output.human = output.human.width(columns);
        }
        output
    }

    /// Replaces the content of a file with a text, completely or not at all.
    pub(crate) fn write_file(path: &Path, text: &str) -> io::Result<()> {
        let mut file = Self::to_file(path, false, Color::Never)?;
        file.write_all(text.as_bytes())?;
        file.finish()
    }

    /// Opens a report file. Call [`finish`](Self::finish) when the report is complete.
    pub(crate) fn to_file(path: &Path, is_for_people: bool, color: Color) -> io::Result<Self> {
        let draft = Draft::open(path).map_err(|error| FileError::wrap(path, error))?;
        // A pipe or a device may have a waiting reader.
        let is_watched = draft.is_in_place();
        let target = OutputTarget::File(draft, path.to_owned());
        Ok(Self::with(target, is_for_people && color == Color::Always, is_watched))
    }

    fn with(target: OutputTarget, is_coloured: bool, is_watched: bool) -> Self {
        let human = if is_coloured { Human::coloured() } else { Human::plain() };
        let writer = BufWriter::with_capacity(BUFFER, target);
        Self { writer, human, is_coloured, is_watched, is_eager: is_watched }
    }

    /// Returns the formatter that uses the colours of this output.
    pub(crate) fn human(&self) -> &Human {
        &self.human
    }

    /// Makes findings show their packets in full.
    pub(crate) fn show_whole_packets(&mut self) {
        self.human = self.human.clone().whole();
    }

    /// Prepares for the results of an input: hides its progress bar during output, and flushes promptly if the input is live,
    /// since its writer may be waiting.
    pub(crate) fn follow(&mut self, bar: &ProgressBar, is_live: bool) {
        if let OutputTarget::Screen(screen) = self.writer.get_mut() {
            screen.bar = bar.clone();
        }
        self.is_eager = is_live || self.is_watched;
    }

    /// Flushes if a reader may be waiting; to be called after all input so far has been handled.
    pub(crate) fn caught_up(&mut self) -> io::Result<()> {
        if self.is_eager { self.flush() } else { Ok(()) }
    }

    /// Completes the file and moves it into place.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        match self.writer.into_inner() {
            Ok(OutputTarget::File(draft, path)) => draft.keep().map_err(|error| FileError::wrap(&path, error)),
            Ok(OutputTarget::Screen(_)) => Ok(()),
            Err(error) => Err(error.into_error()),
        }
    }
}

/// Returns whether FORCE_COLOR enables or disables colours, as interpreted by Node.js and many CI programs. NO_COLOR takes
/// precedence.
pub(crate) fn forced() -> Option<bool> {
    let is_set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let value = is_set("FORCE_COLOR").filter(|_| is_set("NO_COLOR").is_none())?;
    Some(value != "0" && value != "false")
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

enum OutputTarget {
    Screen(Screen),
    File(Draft, PathBuf),
}

impl Write for OutputTarget {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Screen(screen) => screen.write(bytes),
            Self::File(draft, path) => draft.write(bytes).map_err(|error| FileError::wrap(path, error)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Screen(screen) => screen.flush(),
            Self::File(draft, path) => draft.flush().map_err(|error| FileError::wrap(path, error)),
        }
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

/// Error writing a file. Errors of standard output are not wrapped.
#[derive(Debug)]
pub(crate) struct FileError {
    path: PathBuf,
    error: io::Error,
}

impl FileError {
    pub(crate) fn wrap(path: &Path, error: io::Error) -> io::Error {
        // Must stay recognizable, because `write_all` retries interrupted writes.
        if error.kind() == io::ErrorKind::Interrupted {
            return error;
        }
        io::Error::other(Self { path: path.to_owned(), error })
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot write {}: {}", self.path.display(), self.error)
    }
}

impl std::error::Error for FileError {}

/// Returns the width of the terminal in columns, or the one that COLUMNS states for a pipe.
fn columns() -> Option<usize> {
    let terminal = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    let columns = terminal.or_else(|| env::var("COLUMNS").ok()?.parse().ok()).filter(|columns| *columns > 0);
    columns.map(|columns| columns.min(WIDEST))
}

/// Maximum terminal width in columns.
const WIDEST: usize = 10_000;

const BUFFER: usize = 64 * 1024;

/// Writes a hook's answer, from any thread.
pub(crate) fn write_answer(answer: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(answer.as_bytes())?;
    stdout.flush()
}
