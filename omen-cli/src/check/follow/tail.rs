//! Follower of one log, which notices when the path refers to a new file.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _};
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use omen::finding::Finding;
use omen::validator::{BadSnapshot, Sink, Summary, Validator, ValidatorOptions};
use omen_gate::regular_file;
use same_file::Handle;

use super::checkpoint::Position;
use crate::exit::complain;
use crate::input::{self, FileLines, Reporter};

/// A followed log, across all files that its path has referred to. Its episodes continue in the next file.
pub(super) struct Tail {
    path: PathBuf,
    open: Option<OpenLog>,
    validator: Validator,
    lines: FileLines,
    /// Whether a file was ever opened.
    pub(super) has_begun: bool,
    /// Position from the checkpoint, until a file is opened.
    position: Option<Position>,
    /// Whether part of the log was never read.
    pub(super) has_gap: bool,
    /// Whether anything was read since the last query.
    has_read: bool,
    /// Reason why the log cannot be read now, once reported.
    failure: Option<String>,
    buffer: Vec<u8>,
}

struct OpenLog {
    file: File,
    id: Handle,
    offset: u64,
}

impl Tail {
    /// Follows a log from its position in the checkpoint, or else from the beginning.
    pub(super) fn new(path: &Path, position: Option<Position>, options: ValidatorOptions) -> Result<Self, String> {
        let (validator, lines) = match &position {
            None => (Validator::new(options), FileLines::default()),
            Some(position) => {
                let damaged = || BadSnapshot::Damaged;
                let restored = position.validator().ok_or_else(damaged);
                let validator = restored.and_then(|bytes| Validator::restore(&bytes, options));
                let validator = validator.map_err(|error| {
                    format!("cannot continue with {} from the checkpoint: {error}", input::name(path))
                })?;
                let Position { lines, is_inside, files, .. } = position;
                (validator, FileLines::resume((*lines, *is_inside, files.clone())))
            }
        };
        Ok(Self {
            path: path.to_owned(),
            open: None,
            validator,
            lines,
            has_begun: position.is_some(),
            position,
            has_gap: false,
            has_read: false,
            failure: None,
            buffer: vec![0; READ_BYTES],
        })
    }

    /// Returns whether anything was read since the last call.
    pub(super) fn has_read(&mut self) -> bool {
        std::mem::take(&mut self.has_read)
    }

    /// Returns the position up to which the log has been checked; `None` if it never existed.
    pub(super) fn position(&mut self) -> io::Result<Option<Position>> {
        let Some(open) = &mut self.open else { return Ok(self.position.clone()) };
        let place = (&mut open.file, open.offset);
        Position::new(&self.path, place, self.lines.state(), &self.validator.snapshot()).map(Some)
    }

    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Returns whether there is no file.
    pub(super) fn is_missing(&self) -> bool {
        self.open.is_none() && self.failure.is_none()
    }

    /// Returns whether the file exists but could never be read.
    pub(super) fn is_useless(&self) -> bool {
        self.failure.is_some() && !self.has_begun
    }

    pub(super) fn summary(&self) -> Summary {
        self.validator.summary()
    }

    /// Checks new lines. Returns whether everything could be read. A failure is reported once, and the next attempt may succeed.
    pub(super) fn poll(&mut self, reporter: &mut dyn Reporter) -> io::Result<bool> {
        loop {
            if let Err(error) = self.read(reporter)? {
                return Ok(self.fail(&error));
            }
            match self.next_file(reporter) {
                Ok(Some(open)) => {
                    if let Err(error) = self.begin(open, reporter)? {
                        return Ok(self.fail(&error));
                    }
                }
                Ok(None) => return Ok(true),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    // The file may appear later; until then, the open one is read.
                    self.failure = None;
                    return Ok(true);
                }
                Err(error) => return Ok(self.fail(&error)),
            }
        }
    }

    /// Reads the open file to its end. The inner error is a failure to read the file.
    fn read(&mut self, reporter: &mut dyn Reporter) -> io::Result<io::Result<()>> {
        let Self { open: Some(open), validator, lines, buffer, path, .. } = self else { return Ok(Ok(())) };
        let mut is_any = false;
        loop {
            let length = match open.file.metadata() {
                Ok(metadata) => metadata.len(),
                Err(error) => return Ok(Err(error)),
            };
            if length < open.offset {
                note(reporter, format_args!("{} was truncated; reading it from its beginning", input::name(path)));
                if let Err(error) = open.file.rewind() {
                    return Ok(Err(error));
                }
                open.offset = 0;
                begin_file(lines, validator, reporter)?;
            }
            match open.file.read(buffer) {
                Ok(0) => break,
                Ok(count) => {
                    is_any = true;
                    let mut bytes = buffer.get(..count).unwrap_or_default();
                    if open.offset == 0 {
                        bytes = bytes.strip_prefix(input::MARK).unwrap_or(bytes);
                    }
                    open.offset += count as u64;
                    feed(bytes, lines, validator, reporter)?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Ok(Err(error)),
            }
        }
        if is_any {
            self.has_read = true;
            reporter.caught_up()?;
        }
        Ok(Ok(()))
    }

    /// Opens the file that the path refers to now, unless it is already open.
    fn next_file(&mut self, reporter: &mut dyn Reporter) -> io::Result<Option<OpenLog>> {
        if !fs::metadata(&self.path)?.is_file() {
            // Fails with an error that names the kind of file.
            regular_file::open(&self.path)?;
        }
        let id = Handle::from_path(&self.path)?;
        if self.open.as_ref().is_some_and(|open| open.id == id) {
            return Ok(None);
        }
        let mut file = regular_file::open(&self.path)?;
        // The id of the open file: a file that replaces it meanwhile is found at the next poll.
        let id = Handle::from_file(file.try_clone()?)?;
        if input::is_compressed(&mut file)? {
            let message = "it is compressed, and only logs that are written line by line can be followed";
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        if self.open.is_some() {
            note(reporter, format_args!("{} was replaced; reading the new file", input::name(&self.path)));
        }
        Ok(Some(OpenLog { file, id, offset: 0 }))
    }

    /// Starts a new file. The inner error is a failure to read the file.
    fn begin(&mut self, mut open: OpenLog, reporter: &mut dyn Reporter) -> io::Result<io::Result<()>> {
        reporter.out().follow(&ProgressBar::hidden(), true);
        self.failure = None;
        if let Some(position) = &self.position {
            match position.is_in(&mut open.file) {
                Err(error) => return Ok(Err(error)),
                Ok(true) => {
                    open.offset = position.offset;
                    self.open = Some(open);
                    self.position = None;
                    return Ok(Ok(()));
                }
                Ok(false) => {
                    complain(format_args!(
                        "{} was replaced or truncated while nothing was reading it: the content after byte {} was not \
                         checked; reading the new content",
                        input::name(&self.path),
                        position.offset
                    ));
                    if let Err(error) = open.file.rewind() {
                        return Ok(Err(error));
                    }
                    self.has_gap = true;
                }
            }
        }
        self.position = None;
        self.open = Some(open);
        if std::mem::replace(&mut self.has_begun, true) {
            begin_file(&mut self.lines, &mut self.validator, reporter)?;
        }
        Ok(Ok(()))
    }

    fn fail(&mut self, error: &io::Error) -> bool {
        let why = error.to_string();
        if self.failure.as_ref() != Some(&why) {
            complain(format_args!("cannot read {}: {why}", input::name(&self.path)));
            self.failure = Some(why);
        }
        false
    }
}

/// Checks the next bytes.
fn feed(bytes: &[u8], lines: &mut FileLines, validator: &mut Validator, reporter: &mut dyn Reporter) -> io::Result<()> {
    let sink: &mut dyn Sink<Error = io::Error> = &mut FileLineSink { lines, reporter };
    validator.feed(bytes, sink)?;
    lines.take(bytes);
    Ok(())
}

/// Ends an incomplete last line of the previous file, and restarts the line count at 1.
fn begin_file(lines: &mut FileLines, validator: &mut Validator, reporter: &mut dyn Reporter) -> io::Result<()> {
    if lines.is_inside {
        feed(b"\n", lines, validator, reporter)?;
    }
    lines.next_file();
    Ok(())
}

/// Sink that converts the line numbers of findings to those in their files.
struct FileLineSink<'s> {
    lines: &'s FileLines,
    reporter: &'s mut dyn Reporter,
}

impl Sink for FileLineSink<'_> {
    type Error = io::Error;

    fn finding(&mut self, mut finding: Finding, line: Option<&str>) -> io::Result<()> {
        finding.line = finding.line.map(|line| self.lines.place(line).1);
        if let Some(cause) = &mut finding.follows_from {
            cause.line = self.lines.place(cause.line).1;
        }
        self.reporter.finding(finding, line)
    }

    fn wants_packets(&self) -> bool {
        false
    }
}

fn note(reporter: &dyn Reporter, what: std::fmt::Arguments<'_>) {
    if !reporter.is_quiet() {
        complain(format_args!("note: {what}"));
    }
}

const READ_BYTES: usize = 256 * 1024;
