//! `omen audit`: verifies the gate's audit log, and manages its key and anchors.

mod calls;
mod facts;
mod filters;
mod order;
mod show;
mod sign;
#[cfg(feature = "otel")]
mod spans;
mod stats;
mod tally;
mod waiting;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use omen::render::human::clean;
use omen_gate::SystemClock;
use omen_gate::audit::store::log_of;
use omen_gate::audit::{
    Anchor, Audit, AuditError, BadAnchor, FileVerification, Key, KeyError, LogVerdict, LogVerification, Mac, Misfit,
    Options, Tampering, Verification, read_log, verify_files, verify_folder, verify_log,
};
use serde::Serialize;
use serde_json::Value;

use crate::args::{AuditExportArgs, AuditSettleArgs, AuditVerifyArgs, Format, KeyArgs, NewKeyArgs, YesNo};
use crate::exit::{Exit, Failure, complain, unreadable};
use crate::output::Output;

pub(crate) use show::show;
pub(crate) use sign::{new_signing_key, sign, verify_signed};
#[cfg(feature = "otel")]
pub(crate) use spans::spans;
pub(crate) use stats::stats;
pub(crate) use tally::{LogCounts, Standing, Tally};

pub(crate) fn verify(args: &AuditVerifyArgs, out: &mut Output) -> Result<Exit, Failure> {
    let key = key(&args.key)?;
    let anchor = args.anchor.as_deref().map(|path| anchor(path, &key)).transpose()?;
    let mut bypasses = None;
    let found = match (args.policy, args.logs.as_slice()) {
        (false, logs) => all_found(logs, &key, anchor.as_ref())?,
        (true, [log]) if !log.is_dir() => {
            let bypasses = bypasses.insert(Vec::new());
            bypasses_found(log, &key, anchor.as_ref(), bypasses)?
        }
        (true, _) => return Err(Failure::Usage("--policy takes a single log; pass only its first file".to_owned())),
    };
    let log = args.logs.first().map(PathBuf::as_path).unwrap_or(Path::new(""));
    let has_bypass = bypasses.as_ref().is_some_and(|all| !all.is_empty());
    let report = VerificationReport { bypasses, ..VerificationReport::new(log, &found, anchor.as_ref()) };
    match args.format {
        Format::Human => report.human(out)?,
        Format::Json => out.json(&report)?,
    }
    out.flush()?;
    Ok(if found.is_sound() && !has_bypass { Exit::Clean } else { Exit::ErrorsFound })
}

/// Verifies a log, and collects the calls that bypassed the gate.
fn bypasses_found(
    log: &Path,
    key: &Key,
    anchor: Option<&Anchor>,
    bypasses: &mut Vec<BypassReport>,
) -> Result<LogVerification, AuditError> {
    read_log(log_of(log), key, anchor, &mut |entry| {
        if entry.kind() == BYPASS {
            let text = |member: &str| entry.data().get(member).and_then(Value::as_str).unwrap_or_default().to_owned();
            let (finding, message) = (text("finding"), text("why"));
            bypasses.push(BypassReport { sequence: entry.sequence(), time: entry.time().to_owned(), finding, message });
        }
    })
}

/// Entry kind of a call that bypassed the gate.
pub(crate) const BYPASS: &str = "bypass";

/// Reports an invalid log on standard error; returns the exit code.
pub(crate) fn reported(log: &Path, found: &LogVerification) -> Exit {
    if found.is_sound() {
        return Exit::Clean;
    }
    complain(format_args!("{} is {}", log.display(), reason(log, found)));
    Exit::ErrorsFound
}

/// Returns the reason why a log is not sound, and the remedy.
pub(crate) fn reason(log: &Path, found: &LogVerification) -> String {
    let report = VerificationReport::new(log, found, None);
    format!("{}; {}", clean(&report.message), report.help.unwrap_or_default())
}

/// Verifies a log with all its files, the log in a folder, or exactly the named files.
fn all_found(logs: &[PathBuf], key: &Key, anchor: Option<&Anchor>) -> Result<LogVerification, AuditError> {
    match logs {
        [log] if log.is_dir() => verify_folder(log, key, anchor),
        [log] => verify_log(log_of(log), key, anchor),
        logs => verify_files(logs, key, anchor),
    }
}

pub(crate) fn new_key(args: &NewKeyArgs) -> Result<Exit, Failure> {
    Key::create(&args.file).map(|_| Exit::Clean).map_err(not_created)
}

/// Reports a key that cannot be created.
pub(crate) fn not_created(error: KeyError) -> Failure {
    unreadable(format_args!("cannot create the key: {error}; {}", error.help()))
}

fn unusable(error: KeyError) -> Failure {
    unreadable(format_args!("cannot use the key: {error}; {}", error.help()))
}

pub(crate) fn export_anchor(args: &AuditExportArgs, out: &mut Output) -> Result<Exit, Failure> {
    let key = key(&args.key)?;
    let found = all_found(std::slice::from_ref(&args.log), &key, None)?;
    let Ok(anchor) = found.anchor(&key) else {
        let why = reason(&args.log, &found);
        complain(format_args!("cannot export an anchor: {} is {why}", args.log.display()));
        return Ok(Exit::ErrorsFound);
    };
    writeln!(out, "{anchor}")?;
    out.flush()?;
    Ok(Exit::Clean)
}

/// Verification result, for people and for programs. Fields that do not apply are `null`.
#[derive(Debug, Serialize)]
pub(crate) struct VerificationReport {
    pub(crate) file: String,
    pub(crate) verdict: &'static str,
    /// Number of valid entries, in all files.
    pub(crate) entries: u64,
    pub(crate) bytes: u64,
    pub(crate) last: Option<Mac>,
    /// Number of entries covered by the anchor.
    pub(crate) anchor: Option<u64>,
    unacknowledged_entries: Option<u64>,
    torn_bytes: Option<u64>,
    want: Option<u64>,
    line: Option<u64>,
    offset: Option<u64>,
    pub(crate) message: String,
    pub(crate) help: Option<&'static str>,
    /// Whether a program has the log open: then it was verified only up to the last acknowledged entry.
    in_use: bool,
    files: Vec<FileReport>,
    misfits: Vec<MisfitReport>,
    /// Calls that bypassed the gate; `None` without `--policy`.
    #[serde(skip_serializing_if = "Option::is_none")]
    bypasses: Option<Vec<BypassReport>>,
}

/// A call that bypassed the gate.
#[derive(Debug, Serialize)]
struct BypassReport {
    /// Entry number.
    sequence: u64,
    time: String,
    finding: String,
    message: String,
}

#[derive(Debug, Serialize)]
struct FileReport {
    file: String,
    verdict: &'static str,
    /// Number, within the log, of the file's first entry.
    first: u64,
    entries: u64,
    bytes: u64,
    message: String,
}

/// A file that does not fit the others.
#[derive(Debug, Serialize)]
struct MisfitReport {
    message: String,
    help: &'static str,
}

impl VerificationReport {
    pub(crate) fn new(log: &Path, found: &LogVerification, anchor: Option<&Anchor>) -> Self {
        // The worst verdict determines the state of the log and the next step.
        let worst =
            found.files.iter().max_by_key(|file| (gravity(&file.found.verdict), std::cmp::Reverse(file.found.before)));
        let mut report = Self {
            file: log.to_string_lossy().into_owned(),
            verdict: overall(found),
            entries: found.entries(),
            bytes: found.files.iter().map(|file| file.found.bytes).sum(),
            last: found.last().map(|found| found.last),
            anchor: anchor.map(Anchor::count),
            unacknowledged_entries: None,
            torn_bytes: None,
            want: None,
            line: None,
            offset: None,
            message: worst.map(|file| file.found.verdict.to_string()).unwrap_or_default(),
            help: worst.and_then(|file| file.found.verdict.help()),
            in_use: found.is_in_use,
            files: found.files.iter().map(FileReport::new).collect(),
            misfits: found.misfits.iter().map(MisfitReport::new).collect(),
            bypasses: None,
        };
        match worst.map(|file| &file.found.verdict) {
            Some(LogVerdict::Incomplete { entries, bytes }) => {
                (report.unacknowledged_entries, report.torn_bytes) = (Some(*entries), Some(*bytes));
            }
            Some(LogVerdict::Truncated { want, .. }) => report.want = Some(*want),
            Some(LogVerdict::Tampered(Tampering::Line { line, offset, .. })) => {
                (report.line, report.offset) = (Some(*line), Some(*offset));
            }
            Some(LogVerdict::Sound | LogVerdict::Tampered(_)) | None => {}
        }
        if let Some(misfit) = found.misfits.first() {
            if let Misfit::Cut { want, .. } = misfit {
                report.want = Some(*want);
            }
            (report.message, report.help) = (format!("{}: {misfit}", report.verdict), Some(misfit.help()));
        } else if found.is_interrupted && found.files.iter().all(|file| file.found.verdict == LogVerdict::Sound) {
            report.message = "incomplete: a crash interrupted the rotation after the last file".to_owned();
            report.help = Some("open the log, as the gate does when it starts; this finishes the rotation");
        }
        report
    }

    fn human(&self, out: &mut Output) -> std::io::Result<()> {
        writeln!(out, "{}: {}", clean(&self.file), clean(&self.message))?;
        let entries = if self.entries == 1 { "entry" } else { "entries" };
        let files = if self.files.len() > 1 { format!("{} files, ", self.files.len()) } else { String::new() };
        write!(out, "  {} sound {entries} in {files}{} bytes", self.entries, self.bytes)?;
        self.last.map_or(Ok(()), |last| write!(out, "; last seal {last}"))?;
        match self.anchor {
            Some(count) => writeln!(out, "; anchor at entry {count}")?,
            None => writeln!(out, "; no anchor given")?,
        }
        if self.in_use {
            writeln!(out, "  the log is in use; it was verified up to the last acknowledged entry")?;
        }
        for file in self.files.iter().filter(|_| self.files.len() > 1) {
            let (first, last) = (file.first, (file.first + file.entries).saturating_sub(1));
            writeln!(out, "  {}: {}; entries {first} to {last}", clean(&file.file), clean(&file.message))?;
        }
        for misfit in self.misfits.iter().skip(1) {
            writeln!(out, "  {}; {}", clean(&misfit.message), misfit.help)?;
        }
        for bypass in self.bypasses.iter().flatten() {
            writeln!(out, "  entry {}, {}: {}", bypass.sequence, clean(&bypass.time), clean(&bypass.message))?;
        }
        self.help.map_or(Ok(()), |help| writeln!(out, "  help: {help}"))
    }
}

impl FileReport {
    fn new(file: &FileVerification) -> Self {
        let Verification { verdict, before, entries, bytes, .. } = &file.found;
        Self {
            file: file.path.to_string_lossy().into_owned(),
            verdict: verdict.name(),
            first: before + 1,
            entries: entries.saturating_sub(*before),
            bytes: *bytes,
            message: verdict.to_string(),
        }
    }
}

impl MisfitReport {
    fn new(misfit: &Misfit) -> Self {
        Self { message: misfit.to_string(), help: misfit.help() }
    }
}

/// Returns the rank of a verdict; higher is worse.
fn gravity(verdict: &LogVerdict) -> u8 {
    match verdict {
        LogVerdict::Sound => 0,
        LogVerdict::Incomplete { .. } => 1,
        LogVerdict::Truncated { .. } => 2,
        LogVerdict::Tampered(_) => 3,
    }
}

/// Returns the combined verdict on all files.
fn overall(found: &LogVerification) -> &'static str {
    let of_files = found.files.iter().map(|file| gravity(&file.found.verdict)).max().unwrap_or(0);
    let of_misfits = found.misfits.iter().map(|misfit| match misfit {
        Misfit::Missing { .. } | Misfit::Cut { .. } => 2,
        _ => 3,
    });
    match of_misfits.max().unwrap_or(0).max(of_files).max(u8::from(found.is_interrupted)) {
        0 => "sound",
        1 => "incomplete",
        2 => "truncated",
        _ => "tampered",
    }
}

fn key(args: &KeyArgs) -> Result<Key, Failure> {
    key_at(args.key_file.as_deref(), args.key_env.as_deref())
}

/// Reads the key from a file, or else from an environment variable; the parser requires one of them.
pub(crate) fn key_at(file: Option<&Path>, variable: Option<&str>) -> Result<Key, Failure> {
    match (file, variable) {
        (Some(path), _) => Key::from_file(path),
        (None, variable) => Key::from_env(variable.unwrap_or_default()),
    }
    .map_err(unusable)
}

pub(crate) fn anchor(path: &Path, key: &Key) -> Result<Anchor, Failure> {
    Anchor::from_file(path, key).map_err(|error| no_anchor(path, error))
}

/// Reports an unusable anchor.
fn no_anchor(path: &Path, error: BadAnchor) -> Failure {
    let why = match error {
        BadAnchor::Unreadable { why, .. } => why,
        error => error.to_string(),
    };
    unreadable(format_args!("cannot use the anchor {}: {}", path.display(), clean(&why)))
}

pub(crate) fn settle(args: &AuditSettleArgs) -> Result<Exit, Failure> {
    let key = key(&args.key)?;
    let log = log_of(&args.log);
    let settled = match log.try_exists() {
        Ok(true) => Audit::open(&log, key, Arc::new(SystemClock::default()), Options::default())
            .and_then(|audit| audit.settle(args.entry, args.ran == YesNo::Yes)),
        Ok(false) => Err(AuditError::Io { path: log, source: std::io::ErrorKind::NotFound.into() }),
        Err(source) => Err(AuditError::Io { path: log, source }),
    };
    settled
        .map(|_| Exit::Clean)
        .map_err(|error| unreadable(format_args!("cannot settle the call: {error}; {}", error.help())))
}
