//! Inputs: files and standard input, read in pieces, with a progress bar for the long ones.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read};
use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use omen::validator::{Sink, Summary, Validator, ValidatorOptions};
use omen_gate::regular;

use super::complain;

/// A sink that can fail, for it writes.
pub(crate) trait Reporter: Sink {
    /// The bar that will be on the screen from now on.
    fn behind(&mut self, bar: ProgressBar);

    /// Gives the error that has stopped the writing, if one has. `live`: whoever feeds the stream
    /// may be waiting for an answer, so nothing may be held back.
    fn settle(&mut self, live: bool) -> io::Result<()>;
}

/// What came of one stream.
pub(crate) struct Judged {
    /// What was judged, all of it or the part before the failure.
    pub(crate) summary: Summary,
    /// Whether the stream was read to its end.
    pub(crate) complete: bool,
}

/// Validates one stream. An input that cannot be read is complained of here; the error is that of
/// the output.
pub(crate) fn judge(path: &Path, options: ValidatorOptions, reporter: &mut dyn Reporter) -> io::Result<Judged> {
    let unread = |error: io::Error, summary| {
        complain(format_args!("cannot read {}: {error}", name(path)));
        Ok(Judged { summary, complete: false })
    };
    let mut input = match Input::open(path) {
        Ok(input) => input,
        Err(error) => return unread(error, Summary::default()),
    };
    reporter.behind(input.bar.clone());
    let mut validator = Validator::new(options);
    let failed = loop {
        match input.piece() {
            Ok([]) => break None,
            Ok(piece) => {
                validator.feed(piece, reporter);
                reporter.settle(input.live)?;
            }
            Err(error) => break Some(error),
        }
    };
    input.bar.finish_and_clear();
    if let Some(error) = failed {
        return unread(error, validator.summary());
    }
    let summary = validator.finish(reporter);
    reporter.settle(input.live)?;
    if summary.packets == 0 {
        complain(format_args!("note: {} holds no packet", name(path)));
    }
    Ok(Judged { summary, complete: true })
}

/// The name of an input for people.
pub(crate) fn name(path: &Path) -> String {
    if is_stdin(path) { "<stdin>".to_owned() } else { path.display().to_string() }
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// An input, read piece by piece.
pub(crate) struct Input {
    reader: Box<dyn Read>,
    buffer: Vec<u8>,
    /// Shows how far it is read. Whoever reads it to its end clears it.
    pub(crate) bar: ProgressBar,
    /// Whether whoever feeds it may be waiting for an answer.
    pub(crate) live: bool,
}

impl Input {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        if is_stdin(path) {
            return Ok(Self::new(Box::new(io::stdin().lock()), None));
        }
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(directory());
        }
        let length = metadata.is_file().then_some(metadata.len());
        Ok(Self::new(Box::new(file), length))
    }

    /// A regular file, or standard input, whatever that is.
    pub(crate) fn open_regular(path: &Path) -> io::Result<Self> {
        if is_stdin(path) {
            return Self::open(path);
        }
        if path.is_dir() {
            return Err(directory());
        }
        let file = regular::open(path)?;
        let length = file.metadata()?.len();
        Ok(Self::new(Box::new(file), Some(length)))
    }

    /// `length`: bytes, of a regular file.
    fn new(reader: Box<dyn Read>, length: Option<u64>) -> Self {
        Self { reader, buffer: vec![0; PIECE], bar: bar(length), live: length.is_none() }
    }

    /// The next bytes; none at the end.
    pub(crate) fn piece(&mut self) -> io::Result<&[u8]> {
        loop {
            match self.reader.read(&mut self.buffer) {
                Ok(length) => {
                    self.bar.inc(length as u64);
                    return Ok(self.buffer.get(..length).unwrap_or_default());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

fn directory() -> io::Error {
    io::Error::new(io::ErrorKind::IsADirectory, "it is a directory")
}

/// Hidden, unless a person waits for a long file.
fn bar(length: Option<u64>) -> ProgressBar {
    let Some(length) = length.filter(|length| *length > LONG && io::stderr().is_terminal()) else {
        return ProgressBar::hidden();
    };
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{bytes} of {total_bytes} {wide_bar} {eta}") {
        bar.set_style(style);
    }
    bar
}

/// Bytes read at a time.
const PIECE: usize = 256 * 1024;

/// Files longer than this, in bytes, get a progress bar.
const LONG: u64 = 8 * 1024 * 1024;
