//! Inputs: files and standard input, compressed or not, with a progress bar for large files.

mod file_lines;
pub(crate) mod find;
mod ranges;
mod wrapped;

use std::fs::File;
use std::io::{self, Cursor, IsTerminal as _, Read};
use std::num::NonZeroUsize;
use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use omen::finding::Finding;
use omen::input::{AnyValidator, Source, decoded};
use omen::lines::ReadError;
use omen::validator::{Sink, Summary, ValidatorOptions};
use omen_gate::regular_file;

use crate::exit::complain;
use crate::output::Output;

pub(crate) use file_lines::FileLines;
pub(crate) use omen::input::{Layout, MARK, PacketLines, PacketSplitter, is_compressed};
pub(crate) use ranges::packet_ranges;
pub(crate) use wrapped::Wrapping;

/// A sink that also prints.
pub(crate) trait Reporter: Sink<Error = io::Error> {
    fn out(&mut self) -> &mut Output;

    /// Reports that the input cannot be read to its end. Standard error also states the reason.
    fn unreadable(&mut self, reason: &str) -> io::Result<()> {
        let _ = reason;
        Ok(())
    }

    /// Returns whether to omit progress and notes.
    fn is_quiet(&self) -> bool {
        false
    }
}

/// Format of a log: how its packets are stored.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogFormat {
    pub(crate) layout: Layout,
    /// Text around each packet, if each packet is on its own line.
    pub(crate) wrapping: Option<Wrapping>,
}

/// Result of checking a log.
pub(crate) struct CheckResult {
    /// Counts of the whole log, or of the part before a failure.
    pub(crate) summary: Summary,
    /// Whether the log was read to its end.
    pub(crate) is_complete: bool,
}

/// Checks a log in any layout with several threads.
pub(crate) fn check(
    path: &Path,
    options: ValidatorOptions,
    jobs: NonZeroUsize,
    reporter: &mut dyn Reporter,
) -> io::Result<CheckResult> {
    check_as(path, &LogFormat::default(), options, jobs, reporter)
}

/// Checks a log with several threads. Reports an unreadable input; returned errors come from the output.
pub(crate) fn check_as(
    path: &Path,
    format: &LogFormat,
    options: ValidatorOptions,
    jobs: NonZeroUsize,
    reporter: &mut dyn Reporter,
) -> io::Result<CheckResult> {
    let unreadable = |error: io::Error, summary, reporter: &mut dyn Reporter| {
        complain(format_args!("cannot read {}: {error}", name(path)));
        reporter.unreadable(&error.to_string())?;
        Ok(CheckResult { summary, is_complete: false })
    };
    let quiet = reporter.is_quiet();
    if is_stdin(path) && !quiet && io::stdin().is_terminal() {
        complain("reading packets from standard input; end it with Ctrl-D, or pass a file");
    }
    let input = match Input::open_decoded(path, quiet) {
        Ok(input) => input,
        Err(error) => return unreadable(error, Summary::default(), reporter),
    };
    reporter.out().follow(&input.bar, input.is_live);
    let bar = input.bar.clone();
    let judged = if input.is_live {
        judge(input.reader, format, AnyValidator::new(options, jobs), reporter)
    } else {
        judge_whole(input.reader, format, options, jobs, reporter)
    };
    bar.finish_and_clear();
    match judged {
        Ok(summary) => complete(path, summary, reporter),
        Err((ReadError::Input(error), summary)) => unreadable(error, summary, reporter),
        Err((ReadError::Sink(error), _)) => Err(error),
    }
}

/// Checks a stream to its end, including what is still open there. After a failure, the counts cover the part before it.
pub(crate) fn judge<E>(
    reader: Source,
    format: &LogFormat,
    validator: AnyValidator,
    sink: &mut dyn Sink<Error = E>,
) -> Result<Summary, (ReadError<E>, Summary)> {
    match &format.wrapping {
        Some(wrapping) => wrapped::read(validator, wrapping, reader, sink),
        None => omen::input::judge(reader, format.layout, validator, sink),
    }
}

/// Does the same as [`judge`] for a stream that is not being written: the helps look ahead, unless packets have other text around
/// them.
pub(crate) fn judge_whole<E>(
    reader: Source,
    format: &LogFormat,
    options: ValidatorOptions,
    jobs: NonZeroUsize,
    sink: &mut dyn Sink<Error = E>,
) -> Result<Summary, (ReadError<E>, Summary)> {
    match &format.wrapping {
        Some(wrapping) => wrapped::read(AnyValidator::new(options, jobs), wrapping, reader, sink),
        None => omen::input::judge_whole(reader, format.layout, options, jobs, sink),
    }
}

/// Checks a text as if it were the content of a file.
pub(crate) fn judge_text<E>(
    text: &str,
    path: &Path,
    format: &LogFormat,
    options: ValidatorOptions,
    sink: &mut dyn Sink<Error = E>,
) -> Result<Summary, (ReadError<E>, Summary)> {
    let reader = decoded(source(text), path);
    let reader = reader.map_err(|error| (ReadError::Input(error), Summary::default()))?;
    judge_whole(reader, format, options, NonZeroUsize::MIN, sink)
}

fn source(text: &str) -> Source {
    Box::new(Cursor::new(text.as_bytes().to_vec()))
}

/// Result of checking a log ahead of its turn.
#[derive(Debug)]
pub(crate) struct RecordedCheck {
    pub(crate) summary: Summary,
    /// Findings, each with the text of its line if available.
    pub(crate) findings: Vec<(Finding, Option<String>)>,
}

/// Reports a log that was checked ahead of its turn.
pub(crate) fn replay(path: &Path, recorded: RecordedCheck, reporter: &mut dyn Reporter) -> io::Result<CheckResult> {
    reporter.out().follow(&ProgressBar::hidden(), false);
    for (finding, line) in recorded.findings {
        reporter.finding(finding, line.as_deref())?;
    }
    complete(path, recorded.summary, reporter)
}

fn complete(path: &Path, summary: Summary, reporter: &mut dyn Reporter) -> io::Result<CheckResult> {
    reporter.caught_up()?;
    if summary.packets == 0 && !reporter.is_quiet() {
        complain(format_args!("note: {} contains no packets", name(path)));
    }
    Ok(CheckResult { summary, is_complete: true })
}

/// Returns the name of an input for display.
pub(crate) fn name(path: &Path) -> String {
    if is_stdin(path) { "<stdin>".to_owned() } else { path.display().to_string() }
}

/// Returns whether a path stands for standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// An input that advances a progress bar as it is read.
pub(crate) struct Input {
    reader: Source,
    /// Progress bar. The owner clears it at the end.
    pub(crate) bar: ProgressBar,
    /// Whether a writer may be waiting for a response, which is possible unless the input is a regular file.
    pub(crate) is_live: bool,
}

impl Input {
    /// Opens a file or standard input, decompressing it if necessary. If `quiet`, there is no progress bar.
    pub(crate) fn open_decoded(path: &Path, quiet: bool) -> io::Result<Self> {
        let mut input = Self::open_raw(path, quiet)?;
        input.reader = decoded(input.reader, path)?;
        Ok(input)
    }

    /// Opens a regular file, or standard input of any kind, without decompressing it.
    pub(crate) fn open_regular(path: &Path) -> io::Result<Self> {
        if is_stdin(path) {
            return Self::open_raw(path, false);
        }
        if path.is_dir() {
            return Err(directory());
        }
        let file = regular_file::open(path)?;
        let length = file.metadata()?.len();
        Ok(Self::new(Box::new(file), Some(length), false))
    }

    fn open_raw(path: &Path, quiet: bool) -> io::Result<Self> {
        if is_stdin(path) {
            return Ok(Self::new(Box::new(io::stdin()), None, quiet));
        }
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(directory());
        }
        let length = metadata.is_file().then_some(metadata.len());
        Ok(Self::new(Box::new(file), length, quiet))
    }

    /// Creates an input. `length` is the size in bytes of a regular file, and `None` for any other input.
    fn new(reader: Source, length: Option<u64>, quiet: bool) -> Self {
        let bar = if quiet { ProgressBar::hidden() } else { bar(length) };
        Self { reader: Box::new(CountingReader { reader, bar: bar.clone() }), bar, is_live: length.is_none() }
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}

/// Returns whether a log has another layout than one packet per line.
pub(crate) fn has_array(log: impl Read + Send + 'static) -> bool {
    Layout::Auto.of(Box::new(log)).layout == Layout::Array
}

/// Reader that advances a progress bar by the bytes of the file, whether compressed or not.
struct CountingReader {
    reader: Source,
    bar: ProgressBar,
}

impl Read for CountingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.bar.inc(count as u64);
        Ok(count)
    }
}

fn directory() -> io::Error {
    io::Error::new(io::ErrorKind::IsADirectory, "is a directory")
}

/// Creates a progress bar, which stays hidden unless a person is waiting for a large file.
fn bar(length: Option<u64>) -> ProgressBar {
    let Some(length) = length.filter(|length| *length > LARGE && io::stderr().is_terminal()) else {
        return ProgressBar::hidden();
    };
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{bytes} of {total_bytes} {wide_bar} {eta}") {
        bar.set_style(style);
    }
    bar
}

/// File size in bytes above which a progress bar is shown.
const LARGE: u64 = 8 * 1024 * 1024;
