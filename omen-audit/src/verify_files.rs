//! Verification of a log with all its files.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use omen_types::limits::MAX_LINE_BYTES;

use crate::anchor::Anchor;
use crate::chain::ChainPosition;
use crate::chain::entry::Entry;
use crate::error::AuditError;
use crate::key::Key;
use crate::store::{LogFile, ReadOnly, head_path, is_attached, numbered, parse_name};
use crate::verify::{LogVerdict, Verification, Verifier};
use omen_base::regular_file;

/// Result of verifying the files of a log.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LogVerification {
    /// Files in numerical order.
    pub files: Vec<FileVerification>,
    /// Defects of the set of files: missing and misplaced files.
    pub misfits: Vec<Misfit>,
    /// Whether a crash interrupted the rotation after the last file. Opening the log finishes the rotation.
    pub is_interrupted: bool,
    /// Whether a program has the log open. The log was verified up to the entry in the head record.
    pub is_in_use: bool,
}

/// Verification of one file of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileVerification {
    /// Path of the file.
    pub path: PathBuf,
    /// Result of verifying the file on its own.
    pub found: Verification,
}

impl LogVerification {
    /// Returns whether the log is complete and every entry is unchanged.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let are_sound = self.files.iter().all(|file| file.found.verdict == LogVerdict::Sound);
        are_sound && self.misfits.is_empty() && !self.is_interrupted
    }

    /// Returns the number of sound entries in all files.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.files.iter().map(|file| file.found.entries.saturating_sub(file.found.before)).sum()
    }

    /// Returns the result for the last file.
    #[must_use]
    pub fn last(&self) -> Option<&Verification> {
        self.files.last().map(|file| &file.found)
    }

    /// Returns an anchor for the log's end if the log is sound.
    ///
    /// # Errors
    /// The verdict if the log is not sound: an anchor must not vouch for an unsound log.
    pub fn anchor(&self, key: &Key) -> Result<Anchor, LogVerdict> {
        let unsound = self.files.iter().map(|file| &file.found).find(|found| found.verdict != LogVerdict::Sound);
        match (unsound.or(self.last()), self.is_sound()) {
            (Some(found), true) => found.anchor(key),
            (Some(found), false) if found.verdict != LogVerdict::Sound => Err(found.verdict.clone()),
            (Some(_) | None, _) => Err(LogVerdict::Incomplete { entries: 0, bytes: 0 }),
        }
    }
}

/// File that does not fit with the other files of its log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misfit {
    /// A file is missing according to the others.
    Missing {
        /// Expected path.
        path: PathBuf,
    },
    /// A file has the content of another one: two files were swapped, or one was duplicated.
    Misplaced {
        /// Path of the file.
        path: PathBuf,
        /// Path where its content belongs.
        belongs: PathBuf,
        /// Whether the file there has the same content.
        is_repeated: bool,
    },
    /// A file does not belong to this log.
    Foreign {
        /// Path of the file.
        path: PathBuf,
    },
    /// A file has the right number but does not continue the previous file: one of the two belongs to another log or
    /// was set back.
    Seam {
        /// Path of the file.
        path: PathBuf,
        /// Number of entries in the previous files, according to the file itself.
        continues: u64,
        /// Path of the previous file.
        before: PathBuf,
        /// Number of entries at the end of the previous file.
        ends: u64,
    },
    /// The entry named by the anchor is not in the log: the log was truncated.
    Cut {
        /// Number of existing entries.
        have: u64,
        /// Minimum number of entries that existed.
        want: u64,
    },
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { path } => write!(f, "{} is missing", path.display()),
            Self::Misplaced { path, belongs, is_repeated } => {
                let how = if *is_repeated { ", which is there, too" } else { "" };
                write!(f, "{} contains what belongs in {}{how}", path.display(), belongs.display())
            }
            Self::Foreign { path } => write!(f, "{} does not belong to this log", path.display()),
            Self::Seam { path, continues, before, ends } => write!(
                f,
                "{} continues entry {continues}, which is not the end of {} (entry {ends})",
                path.display(),
                before.display()
            ),
            Self::Cut { have, want } => {
                write!(f, "the log is truncated: the anchor covers at least {want} entries, and {have} are present")
            }
        }
    }
}

impl Misfit {
    /// Returns the help for the defect.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "restore the file with its head record (`.head`); without it, its entries are lost",
            Self::Misplaced { .. } => "give each file its original name, and its head record (`.head`)",
            Self::Foreign { .. } => "move the file away, or pass the files of the log instead of the folder",
            Self::Seam { .. } | Self::Cut { .. } => {
                "keep the files as evidence, and start a new log under another name"
            }
        }
    }
}

/// Verifies a log with all its files, from the first one on.
///
/// # Errors
/// If the files cannot be read.
pub fn verify_log(log: impl AsRef<Path>, key: &Key, anchor: Option<&Anchor>) -> Result<LogVerification, AuditError> {
    verify_log_to(log.as_ref(), key, anchor, &mut |_| {})
}

/// Same as [`verify_log`], but also passes each sound entry to a callback.
pub(super) fn verify_log_to(
    log: &Path,
    key: &Key,
    anchor: Option<&Anchor>,
    seen: &mut dyn FnMut(&Entry),
) -> Result<LogVerification, AuditError> {
    let unusable = |source| AuditError::Io { path: log.to_owned(), source };
    let folder = log.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut files = BTreeMap::from([(1, log.to_owned())]);
    // In a folder that cannot be listed, only the log's first file can be found.
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let name = entry.map_err(unusable)?.file_name();
        let path = log.with_file_name(&name);
        let is_head = name.to_str().and_then(|name| name.strip_suffix(".head"));
        let path = is_head.map_or(path, |log_name| log.with_file_name(log_name));
        let (base, number) = parse_name(&path);
        if number > 1 && base == log {
            files.insert(number, path);
        }
    }
    walk(log, files, Vec::new(), true, key, anchor, seen)
}

/// Verifies the log in a folder. Files of other logs there are reported as foreign.
///
/// # Errors
/// If the folder or the files cannot be read, or there is no log.
pub fn verify_folder(
    folder: impl AsRef<Path>,
    key: &Key,
    anchor: Option<&Anchor>,
) -> Result<LogVerification, AuditError> {
    let folder = folder.as_ref();
    let unusable = |source| AuditError::Io { path: folder.to_owned(), source };
    let mut logs: BTreeMap<PathBuf, BTreeMap<u32, PathBuf>> = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(unusable)? {
        let path = entry.map_err(unusable)?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let file = match name.strip_suffix(".head") {
            // A head record without its log shows that a log existed.
            Some(log_name) => folder.join(log_name),
            None if is_attached(&name) || !is_log(&path) => continue,
            None => path,
        };
        let (base, number) = parse_name(&file);
        logs.entry(base).or_default().insert(number, file);
    }
    let most = logs.values().map(BTreeMap::len).max().unwrap_or(0);
    let Some(log) = logs.iter().find(|(_, files)| files.len() == most).map(|(log, _)| log.clone()) else {
        return Err(unusable(io::Error::new(io::ErrorKind::NotFound, "there is no audit log in this folder")));
    };
    let files = logs.remove(&log).unwrap_or_default();
    let others = logs.into_values().flat_map(BTreeMap::into_values).collect();
    walk(&log, files, others, true, key, anchor, &mut |_| {})
}

/// Verifies a log that consists of exactly these files, in any order.
///
/// # Errors
/// If the files cannot be read.
pub fn verify_files(files: &[PathBuf], key: &Key, anchor: Option<&Anchor>) -> Result<LogVerification, AuditError> {
    let Some(first) = files.first() else { return Ok(LogVerification::default()) };
    let (log, _) = parse_name(first);
    let (mut own, mut others) = (BTreeMap::new(), Vec::new());
    for path in files {
        let (base, number) = parse_name(path);
        let is_own = base.file_name() == log.file_name();
        if !is_own || own.insert(number, path.clone()).is_some() {
            others.push(path.clone());
        }
    }
    walk(&log, own, others, false, key, anchor, &mut |_| {})
}

/// End of a file, with its path.
struct FileEnd {
    path: PathBuf,
    number: u32,
    at: ChainPosition,
    is_closed: bool,
    is_continued: bool,
}

/// Verifies the files one after another. If the files were listed, more may have appeared since; otherwise the set is complete.
fn walk(
    log: &Path,
    mut files: BTreeMap<u32, PathBuf>,
    others: Vec<PathBuf>,
    is_listed: bool,
    key: &Key,
    anchor: Option<&Anchor>,
    seen: &mut dyn FnMut(&Entry),
) -> Result<LogVerification, AuditError> {
    let mut result = LogVerification::default();
    let mut before: Option<FileEnd> = None;
    let mut held: BTreeMap<u32, u32> = BTreeMap::new();
    let mut fits_anchor = None;
    let mut is_interrupted = false;
    let mut number = 1;
    let mut last = files.last_key_value().map_or(1, |(number, _)| *number);
    while number <= last {
        let path = files.get(&number).cloned();
        let Some(path) = path else {
            result.misfits.push(Misfit::Missing { path: numbered(log, number) });
            (before, number) = (None, number + 1);
            continue;
        };
        // The previous file has ended and does not note this one, so nothing has been acknowledged in this one yet.
        let seam_at = before.as_ref().filter(|before| number == last && before.is_closed && !before.is_continued);
        let seam_at = seam_at.map(|before| (number, before.at));
        // For a log with a single file, the verdict on its head record says more.
        if last > 1
            && seam_at.is_none()
            && !path.try_exists().map_err(|source| AuditError::Io { path: path.clone(), source })?
        {
            result.misfits.push(Misfit::Missing { path });
            (before, number) = (None, number + 1);
            continue;
        }
        let file = read(&path, key, anchor, seam_at, seen)?;
        result.is_in_use |= file.is_in_use;
        if seam_at.is_some() {
            is_interrupted = true;
            if file.end == file.start && !matches!(file.found.verdict, LogVerdict::Tampered(_)) {
                break;
            }
        }
        fits_anchor = fits_anchor.or(file.fits_anchor);
        let holds = file.number.unwrap_or(number);
        if file.found.entries == file.found.before && matches!(file.found.verdict, LogVerdict::Tampered(_)) && last > 1
        {
            // None of its entries is sealed with the key.
            result.misfits.push(Misfit::Foreign { path: path.clone() });
            before = None;
        } else if holds != number {
            held.insert(number, holds);
            before = None;
        } else {
            result.misfits.extend(before.as_ref().and_then(|before| seam(before, &path, file.start)));
            held.insert(number, number);
            before = Some(FileEnd {
                path: path.clone(),
                number,
                at: file.end,
                is_closed: file.is_closed,
                is_continued: file.is_continued,
            });
        }
        result.files.push(FileVerification { path, found: file.found });
        // A gate may have rotated the log since its files were listed.
        if let Some(end) = &before
            && end.number == last
            && end.is_closed
            && end.is_continued
        {
            let next = numbered(log, last + 1);
            if is_listed && next.exists() {
                files.insert(last + 1, next);
                last += 1;
            } else {
                result.misfits.push(Misfit::Missing { path: next });
            }
        }
        number += 1;
    }
    for (number, holds) in held.iter().filter(|(number, holds)| number != holds) {
        result.misfits.push(Misfit::Misplaced {
            path: files.get(number).cloned().unwrap_or_else(|| numbered(log, *number)),
            belongs: numbered(log, *holds),
            is_repeated: held.get(holds) == Some(holds),
        });
    }
    result.misfits.extend(others.into_iter().map(|path| Misfit::Foreign { path }));
    if let Some(end) = &before {
        result.is_interrupted = (is_interrupted || (end.is_closed && !end.is_continued)) && !result.is_in_use;
        if let (Some(anchor), None) = (anchor, fits_anchor)
            && anchor.count() > end.at.count
        {
            result.misfits.push(Misfit::Cut { have: end.at.count, want: anchor.count() });
        }
    }
    Ok(result)
}

/// Returns the defect of a file that does not continue the previous one.
fn seam(before: &FileEnd, path: &Path, start: ChainPosition) -> Option<Misfit> {
    let fits = before.is_closed && before.at == start;
    (!fits).then(|| Misfit::Seam {
        path: path.to_owned(),
        continues: start.count,
        before: before.path.clone(),
        ends: before.at.count,
    })
}

/// File that has been read, with its own statements about its position.
struct ReadFile {
    found: Verification,
    number: Option<u32>,
    start: ChainPosition,
    end: ChainPosition,
    is_closed: bool,
    is_continued: bool,
    is_in_use: bool,
    fits_anchor: Option<bool>,
}

/// Reads a file at a known position, or at the position stated in its first entry.
fn read(
    path: &Path,
    key: &Key,
    anchor: Option<&Anchor>,
    at: Option<(u32, ChainPosition)>,
    seen: &mut dyn FnMut(&Entry),
) -> Result<ReadFile, AuditError> {
    let unusable = |source| AuditError::Io { path: path.to_owned(), source };
    let mut tries = 0;
    loop {
        let ReadOnly { log, head } = if at.is_some() { ReadOnly::open_or_none(path) } else { ReadOnly::open(path) }?;
        let is_in_use = matches!(log, Some(LogFile::InUse(_)));
        let verifier = match at {
            Some((number, start)) => Verifier::of_file(number, start, head.as_deref(), key, anchor),
            None => Verifier::new(head.as_deref(), key, anchor),
        };
        let mut verifier = verifier.with_the_anchor_elsewhere();
        if is_in_use {
            // The head record may be read while it is being written.
            if verifier.named.is_none() && tries < HEAD_TRIES {
                tries += 1;
                std::thread::sleep(HEAD_WAIT);
                continue;
            }
            verifier = verifier.up_to_the_head();
        }
        match log {
            Some(log) => verifier.read(log, seen).map_err(unusable)?,
            None => verifier.read(io::empty(), &mut |_| {}).map_err(unusable)?,
        }
        return Ok(ReadFile {
            number: verifier.number(),
            start: verifier.start,
            end: verifier.point(),
            is_closed: verifier.is_closed,
            is_continued: verifier.named.is_some_and(|head| head.continued),
            is_in_use,
            fits_anchor: verifier.fits_anchor,
            found: verifier.finish(),
        });
    }
}

/// Returns whether the first line of a file is a log entry, whatever its seal.
fn is_log(path: &Path) -> bool {
    let Ok(file) = regular_file::open(path) else { return false };
    if head_path(path).exists() {
        return true;
    }
    let mut line = Vec::new();
    let read = BufReader::new(file.take(MAX_LINE_BYTES as u64)).read_until(b'\n', &mut line);
    read.is_ok() && serde_json::from_slice::<Entry>(&line).is_ok()
}

/// Number of attempts to read the head record of a log in use before it counts as changed, and the pause between them.
const HEAD_TRIES: u32 = 200;
const HEAD_WAIT: Duration = Duration::from_millis(2);
