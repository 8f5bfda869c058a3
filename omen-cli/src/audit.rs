//! `omen audit`: verifies the audit log of the gate, and manages its key and anchors.

use std::io::Write as _;
use std::path::Path;

use omen::render::human::clean;
use omen_gate::audit::{Anchor, Key, LogVerdict, Mac, Tampering, Verification, verify_file};
use omen_gate::regular;
use serde::Serialize;

use crate::args::{AuditExportArgs, AuditVerifyArgs, Format, KeyArgs, NewKeyArgs};
use crate::exit::{Exit, Failure, complain};
use crate::output::Output;

pub(crate) fn verify(args: &AuditVerifyArgs, out: &mut Output) -> Result<Exit, Failure> {
    let Some(key) = key(&args.key) else { return Ok(Exit::Unreadable) };
    let anchor = match args.anchor.as_deref().map(|path| anchor(path, &key)).transpose() {
        Ok(anchor) => anchor,
        Err(Unreadable) => return Ok(Exit::Unreadable),
    };
    let Some(found) = found(&args.log, &key, anchor.as_ref()) else { return Ok(Exit::Unreadable) };
    let report = Report::new(&args.log, &found, anchor.as_ref());
    match args.format {
        Format::Human => report.human(out)?,
        Format::Json => {
            serde_json::to_writer(&mut *out, &report).map_err(std::io::Error::from)?;
            writeln!(out)?;
        }
    }
    out.flush()?;
    Ok(outcome(&found.verdict))
}

pub(crate) fn new_key(args: &NewKeyArgs) -> Exit {
    match Key::create(&args.file) {
        Ok(_) => Exit::Clean,
        Err(error) => {
            complain(format_args!("cannot create the key: {error}; {}", error.help()));
            Exit::Unreadable
        }
    }
}

pub(crate) fn export_anchor(args: &AuditExportArgs, out: &mut Output) -> Result<Exit, Failure> {
    let Some(key) = key(&args.key) else { return Ok(Exit::Unreadable) };
    let Some(found) = found(&args.log, &key, None) else { return Ok(Exit::Unreadable) };
    match found.anchor(&key) {
        Ok(anchor) => {
            writeln!(out, "{anchor}")?;
            out.flush()?;
        }
        Err(verdict) => complain(format_args!(
            "cannot export an anchor: {} is {}; {}",
            args.log.display(),
            clean(&verdict.to_string()),
            verdict.help().unwrap_or_default()
        )),
    }
    Ok(outcome(&found.verdict))
}

/// The result of a verification, for people and for programs. Members that do not apply are `null`.
#[derive(Serialize)]
struct Report<'r> {
    file: String,
    verdict: &'static str,
    /// The number of sound entries, from the first one.
    entries: u64,
    bytes: u64,
    last: &'r Mac,
    /// The number of entries when the anchor was taken.
    anchor: Option<u64>,
    unacknowledged_entries: Option<u64>,
    torn_bytes: Option<u64>,
    want: Option<u64>,
    line: Option<u64>,
    offset: Option<u64>,
    message: String,
    help: Option<&'static str>,
}

impl<'r> Report<'r> {
    fn new(log: &Path, found: &'r Verification, anchor: Option<&Anchor>) -> Self {
        let Verification { verdict, entries, last, bytes } = found;
        let mut report = Self {
            file: log.to_string_lossy().into_owned(),
            verdict: verdict.name(),
            entries: *entries,
            bytes: *bytes,
            last,
            anchor: anchor.map(Anchor::count),
            unacknowledged_entries: None,
            torn_bytes: None,
            want: None,
            line: None,
            offset: None,
            message: verdict.to_string(),
            help: verdict.help(),
        };
        match verdict {
            LogVerdict::Incomplete { entries, bytes } => {
                (report.unacknowledged_entries, report.torn_bytes) = (Some(*entries), Some(*bytes));
            }
            LogVerdict::Truncated { want, .. } => report.want = Some(*want),
            LogVerdict::Tampered(Tampering::Line { line, offset, .. }) => {
                (report.line, report.offset) = (Some(*line), Some(*offset));
            }
            LogVerdict::Sound | LogVerdict::Tampered(_) => {}
        }
        report
    }

    fn human(&self, out: &mut Output) -> std::io::Result<()> {
        writeln!(out, "{}: {}", clean(&self.file), clean(&self.message))?;
        let entries = if self.entries == 1 { "entry" } else { "entries" };
        write!(out, "  {} sound {entries} in {} bytes; last seal {}", self.entries, self.bytes, self.last)?;
        match self.anchor {
            Some(count) => writeln!(out, "; anchor at entry {count}")?,
            None => writeln!(out, "; no anchor given")?,
        }
        self.help.map_or(Ok(()), |help| writeln!(out, "  help: {help}"))
    }
}

/// Something could not be read, which was reported.
#[derive(Debug)]
pub(crate) struct Unreadable;

fn outcome(verdict: &LogVerdict) -> Exit {
    if *verdict == LogVerdict::Sound { Exit::Clean } else { Exit::ErrorsFound }
}

fn key(args: &KeyArgs) -> Option<Key> {
    key_at(args.key_file.as_deref(), args.key_env.as_deref())
}

/// The key in a file, or else in an environment variable: the parser requires one of the two.
pub(crate) fn key_at(file: Option<&Path>, variable: Option<&str>) -> Option<Key> {
    let key = match (file, variable) {
        (Some(path), _) => Key::from_file(path),
        (None, variable) => Key::from_env(variable.unwrap_or_default()),
    };
    key.map_err(|error| complain(format_args!("cannot use the key: {error}; {}", error.help()))).ok()
}

pub(crate) fn anchor(path: &Path, key: &Key) -> Result<Anchor, Unreadable> {
    let read = regular::read(path, MAX_ANCHOR);
    let unreadable = |error: &dyn std::fmt::Display| {
        complain(format_args!("cannot use the anchor {}: {}", path.display(), clean(&error.to_string())));
        Unreadable
    };
    let bytes = read.map_err(|error| unreadable(&error))?;
    let text = String::from_utf8(bytes).map_err(|error| unreadable(&error))?;
    Anchor::parse(&text, key).map_err(|error| unreadable(&error))
}

pub(crate) fn found(log: &Path, key: &Key, anchor: Option<&Anchor>) -> Option<Verification> {
    let found = verify_file(log, key, anchor);
    found.map_err(|error| complain(format_args!("{error}; {}", error.help()))).ok()
}

/// The largest anchor file that is read, in bytes: far more than an anchor needs.
const MAX_ANCHOR: u64 = 64 * 1024;
