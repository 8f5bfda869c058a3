//! A file from which `omen check --follow` goes on where it was, also after it was killed.
//!
//! It is JSON: for each log, up to which byte it was checked, and a snapshot of its validator. It is replaced as a whole, after the
//! findings up to there were written. So a finding may be reported again after a kill, and none is lost.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{self, Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tempfile::Builder;

/// The file, and the logs that it names.
pub(super) struct Checkpoint {
    path: PathBuf,
    /// Of logs that are not followed now, too: they are not forgotten.
    logs: Vec<Position>,
    /// Not before this moment.
    next: Instant,
}

/// What is in the file.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Content {
    version: u8,
    logs: Vec<Position>,
}

/// How far a log was checked.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Position {
    /// Its absolute path.
    log: PathBuf,
    /// Up to this byte.
    pub(super) offset: u64,
    /// SHA-256 of the bytes before, of at most [`COMPARED`]: they show whether a file is the one that was checked.
    sha256: String,
    /// Lines that are complete, over all files that the path has named.
    pub(super) lines: u64,
    /// Whether a line has begun.
    pub(super) is_inside: bool,
    /// How many lines were complete where each file began.
    pub(super) files: Vec<u64>,
    /// The snapshot of the validator, in hexadecimal.
    validator: String,
}

impl Checkpoint {
    /// Reads the file; none is as good as one in which nothing was checked.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        let logs = match fs::read(path) {
            Ok(bytes) => {
                let content: Content = serde_json::from_slice(&bytes)
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

    /// How far a log was checked, if it was.
    pub(super) fn position(&self, log: &Path) -> Option<Position> {
        let log = path::absolute(log).ok()?;
        self.logs.iter().find(|position| position.log == log).cloned()
    }

    /// Whether it is time to write the file again: at most once a second, and less often if that takes long.
    pub(super) fn is_due(&self) -> bool {
        Instant::now() >= self.next
    }

    /// Writes the file.
    pub(super) fn save(&mut self, positions: Vec<Position>) -> io::Result<()> {
        let begin = Instant::now();
        self.logs.retain(|old| !positions.iter().any(|new| new.log == old.log));
        self.logs.extend(positions);
        let content = Content { version: VERSION, logs: self.logs.clone() };
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut file = Builder::new().prefix(".omen-").suffix(".tmp").tempfile_in(folder)?;
        serde_json::to_writer(&mut file, &content)?;
        file.write_all(b"\n")?;
        // A crash of the machine must not leave an empty file.
        file.as_file().sync_data()?;
        file.persist(&self.path).map_err(|error| error.error)?;
        self.next = Instant::now() + begin.elapsed().saturating_mul(SELDOM).max(PAUSE);
        Ok(())
    }
}

impl Position {
    /// How far a log was checked: a file to an offset, with what counts its lines, and a snapshot of its validator.
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

    /// The snapshot of the validator.
    pub(super) fn validator(&self) -> Option<Vec<u8>> {
        base16ct::lower::decode_vec(&self.validator).ok()
    }

    /// Whether a file is the one that was checked. If so, it is read from there next.
    pub(super) fn is_in(&self, file: &mut File) -> io::Result<bool> {
        Ok(file.metadata()?.len() >= self.offset && before(file, self.offset)? == self.sha256)
    }
}

/// SHA-256 of the last bytes before an offset, in hexadecimal. The file is read from the offset next.
fn before(file: &mut File, offset: u64) -> io::Result<String> {
    let length = offset.min(COMPARED);
    file.seek(SeekFrom::Start(offset - length))?;
    let mut bytes = Vec::new();
    io::Read::by_ref(file).take(length).read_to_end(&mut bytes)?;
    Ok(base16ct::lower::encode_string(&Sha256::digest(&bytes)))
}

/// The version of the file.
const VERSION: u8 = 1;

/// How many bytes before the offset are compared: 64 KiB.
const COMPARED: u64 = 64 * 1024;

/// The file is written at most once in this time …
const PAUSE: Duration = Duration::from_secs(1);

/// … and in this many times the time that it takes to write it.
const SELDOM: u32 = 20;
