//! `omen check --fix` and `--diff`: applies the edits of findings to the logs.
//!
//! A log is read repeatedly while fixes reveal further ones, and only the lines that change are kept in memory.

mod diff;
mod edits;
mod rewrite;

pub(crate) use self::diff::header as diff_header;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use omen::validator::{Validator, ValidatorOptions};
use omen_gate::regular_file;

use crate::exit::{Failure, complain};
use crate::input;
use crate::output::{Color, Output, is_descriptor};
use diff::FixError;
use rewrite::{Rewritten, rewrite};

pub(crate) use edits::{Edits, Replacement};

/// Options for fixing logs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fix {
    /// Whether the changes are printed instead of written.
    pub(crate) is_shown: bool,
    /// Whether edits that need the consent of a person are applied as well.
    pub(crate) is_unsafe: bool,
}

/// Result of fixing some logs.
#[derive(Debug, Default)]
pub(crate) struct FixOutcome {
    /// Whether anything has changed, or would.
    pub(crate) is_changed: bool,
    /// Whether a log could not be fixed.
    pub(crate) has_failed: bool,
}

impl Fix {
    /// Fixes some logs. An input that is not a file with a packet on each line is named and left alone.
    pub(crate) fn run(
        self,
        paths: &[PathBuf],
        options: &ValidatorOptions,
        out: &mut Output,
        quiet: bool,
    ) -> Result<FixOutcome, Failure> {
        if paths.iter().any(|path| input::is_stdin(path)) {
            return Err(Failure::Usage(
                "`--fix` and `--diff` change files; pass files, or write standard input to one".to_owned(),
            ));
        }
        let mut outcome = FixOutcome::default();
        for path in paths {
            match self.one(path, options, out) {
                Ok(0) => {}
                Ok(count) => {
                    outcome.is_changed = true;
                    if !quiet {
                        let done = if self.is_shown { "would fix" } else { "fixed" };
                        let findings = if count == 1 { "1 finding".to_owned() } else { format!("{count} findings") };
                        complain(format_args!("{done} {findings} in {}", input::name(path)));
                    }
                }
                // The check reports a missing log.
                Err(FixError::Read(error)) if error.kind() == io::ErrorKind::NotFound && !self.is_shown => {}
                Err(FixError::Read(error)) => {
                    outcome.has_failed = true;
                    complain(format_args!("cannot fix {}: {error}", input::name(path)));
                }
                Err(FixError::Refused(why)) => {
                    complain(format_args!("note: {} is not fixed: {why}", input::name(path)))
                }
                Err(FixError::Write(error)) if self.is_shown => return Err(error.into()),
                Err(FixError::Write(error)) => {
                    outcome.has_failed = true;
                    complain(error);
                }
            }
        }
        Ok(outcome)
    }

    /// Fixes one log. Returns the number of fixed findings.
    fn one(self, path: &Path, options: &ValidatorOptions, out: &mut Output) -> Result<u64, FixError> {
        let mut file = regular_file::open(path)?;
        if is_descriptor(path) {
            return Err(FixError::Refused("the path refers to an open descriptor; pass the file itself"));
        }
        if input::is_compressed(&mut file)? {
            return Err(FixError::Refused("it is compressed"));
        }
        let begin = file.metadata()?;
        if input::has_array(file) {
            return Err(FixError::Refused("its packets are not one per line; rewrite it with `jq -c`"));
        }
        let rewritten = rewritten(self.is_unsafe, options, || File::open(path))?;
        if rewritten.is_empty() {
            return Ok(0);
        }
        if self.is_shown {
            diff::print(path, File::open(path)?, &rewritten, out)?;
        } else {
            let mut fixed = Output::to_file(path, false, Color::Never).map_err(FixError::Write)?;
            rewrite(File::open(path)?, &rewritten, true, |bytes| fixed.write_all(bytes).map_err(FixError::Write))?;
            // Otherwise lines that a writer has appended in the meantime would be lost.
            let end = fs::metadata(path)?;
            if (begin.len(), begin.modified().ok()) != (end.len(), end.modified().ok()) {
                return Err(FixError::Read(io::Error::other("it was changed in the meantime; nothing was written")));
            }
            fixed.finish().map_err(FixError::Write)?;
        }
        Ok(rewritten.count())
    }
}

/// Returns the lines of a text that safe fixes change, by number. An empty replacement deletes its line.
pub(crate) fn fixed_lines(text: &str, options: &ValidatorOptions) -> BTreeMap<u64, String> {
    match rewritten(false, options, || Ok(text.as_bytes())) {
        Ok(rewritten) => rewritten.into_lines(),
        // A text can be read.
        Err(_) => BTreeMap::new(),
    }
}

pub(crate) fn text_edits(text: &str, options: &ValidatorOptions) -> Edits {
    let read = edits(true, options, &Rewritten::default(), text.as_bytes());
    read.unwrap_or_else(|_| Edits::new(true))
}

/// Returns the lines of a log that fixes change.
fn rewritten<R: Read>(
    is_unsafe: bool,
    options: &ValidatorOptions,
    open: impl Fn() -> io::Result<R>,
) -> Result<Rewritten, FixError> {
    let mut rewritten = Rewritten::default();
    for _ in 0..ROUNDS {
        let edits = edits(is_unsafe, options, &rewritten, open()?)?;
        if !rewritten.apply(edits) {
            break;
        }
    }
    Ok(rewritten)
}

/// Returns the edits of the findings on a log after the edits so far.
fn edits(
    is_unsafe: bool,
    options: &ValidatorOptions,
    rewritten: &Rewritten,
    log: impl Read,
) -> Result<Edits, FixError> {
    let mut edits = Edits::new(is_unsafe);
    let mut validator = Validator::new(options.clone());
    let mut is_begin = true;
    rewrite(log, rewritten, false, |bytes| {
        let bytes =
            if std::mem::take(&mut is_begin) { bytes.strip_prefix(input::MARK).unwrap_or(bytes) } else { bytes };
        let Ok(()) = validator.feed(bytes, &mut edits);
        Ok::<(), FixError>(())
    })?;
    let Ok(_) = validator.finish(&mut edits);
    edits.end();
    Ok(edits)
}

/// Maximum number of rounds. An error may hide another one in its line, at most one for each stage.
const ROUNDS: usize = 8;
