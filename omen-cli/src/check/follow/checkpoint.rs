//! Checkpoint file, from which `omen check --follow` resumes even after having been killed.
//!
//! The file is JSON: for each log, the number of bytes checked and a snapshot of the validator. It is replaced atomically, after
//! the findings up to that position were written: after a kill, findings may be reported twice, but none is lost.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{self, Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::output::replace_private;

/// A checkpoint file and its content.
pub(super) struct Checkpoint {
    path: PathBuf,
    /// Positions of all logs, including those not followed in this run.
    logs: Vec<Position>,
    /// Time before which the file is not written again.
    next: Instant,
}

/// Content of the file as JSON.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct CheckpointFile {
    version: u8,
    logs: Vec<Position>,
}

/// Position up to which a log has been checked.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Position {
    /// Absolute path of the log.
    log: PathBuf,
    /// Number of bytes checked.
    pub(super) offset: u64,
    /// SHA-256 of the bytes before the position, at most [`COMPARED`] of them, to recognize the file that was checked.
    sha256: String,
    /// Number of complete lines, in all files that the path has referred to so far.
    pub(super) lines: u64,
    /// Whether the position is inside a line.
    pub(super) is_inside: bool,
    /// For each file, the number of complete lines before its beginning.
    pub(super) files: Vec<u64>,
    /// Snapshot of the validator, in hexadecimal.
    validator: String,
}

impl Checkpoint {
    /// Reads the file; a missing file means that nothing has been checked yet.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        let logs = match fs::read(path) {
            Ok(bytes) => {
                let content: CheckpointFile = serde_json::from_slice(&bytes)
                    .map_err(|error| format!("cannot read the checkpoint {}: {error}", path.display()))?;
                if content.version != VERSION {
                    let found = content.version;
                    return Err(format!(
                        "the checkpoint {} is of version {found}; expected version {VERSION}",
                        path.display()
                    ));
                }
                content.logs
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(format!("cannot read the checkpoint {}: {error}", path.display())),
        };
        Ok(Self { path: path.to_owned(), logs, next: Instant::now() })
    }

    /// Returns the position up to which a log has been checked, if known.
    pub(super) fn position(&self, log: &Path) -> Option<Position> {
        let log = path::absolute(log).ok()?;
        self.logs.iter().find(|position| position.log == log).cloned()
    }

    /// Returns whether the file is due to be written: at most once a second, and less often if writing takes long.
    pub(super) fn is_due(&self) -> bool {
        Instant::now() >= self.next
    }

    /// Writes the file.
    pub(super) fn save(&mut self, positions: Vec<Position>) -> io::Result<()> {
        let begin = Instant::now();
        self.logs.retain(|old| !positions.iter().any(|new| new.log == old.log));
        self.logs.extend(positions);
        let content = CheckpointFile { version: VERSION, logs: self.logs.clone() };
        let mut text = serde_json::to_vec(&content)?;
        text.push(b'\n');
        replace_private(&self.path, &text)?;
        self.next = Instant::now() + begin.elapsed().saturating_mul(SELDOM).max(PAUSE);
        Ok(())
    }
}

impl Position {
    /// Creates the position of a file at an offset, with the state of its line counter and a snapshot of its validator.
    pub(super) fn new(
        log: &Path,
        (file, offset): (&mut File, u64),
        (lines, is_inside, files): (u64, bool, &[u64]),
        validator: &[u8],
    ) -> io::Result<Self> {
        let sha256 = before(file, offset)?;
        let validator = base16ct::lower::encode_string(validator);
        Ok(Self { log: path::absolute(log)?, offset, sha256, lines, is_inside, files: files.to_vec(), validator })
    }

    pub(super) fn validator(&self) -> Option<Vec<u8>> {
        base16ct::lower::decode_vec(&self.validator).ok()
    }

    /// Returns whether this is the file that was checked. If so, the next read starts at the offset.
    pub(super) fn is_in(&self, file: &mut File) -> io::Result<bool> {
        Ok(file.metadata()?.len() >= self.offset && before(file, self.offset)? == self.sha256)
    }
}

/// Returns the SHA-256 of the bytes before an offset, in hexadecimal. The next read starts at the offset.
fn before(file: &mut File, offset: u64) -> io::Result<String> {
    let length = offset.min(COMPARED);
    file.seek(SeekFrom::Start(offset - length))?;
    let mut bytes = Vec::new();
    io::Read::by_ref(file).take(length).read_to_end(&mut bytes)?;
    Ok(base16ct::lower::encode_string(&Sha256::digest(&bytes)))
}

/// Version of the file.
const VERSION: u8 = 1;

/// Number of bytes before the offset that are compared: 64 KiB.
const COMPARED: u64 = 64 * 1024;

/// Minimum interval between writes of the file.
const PAUSE: Duration = Duration::from_secs(1);

/// Minimum ratio of the interval between writes to the duration of the last write.
const SELDOM: u32 = 20;
