//! Reader for a log that is still being written.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use omen_types::limits::MAX_LINE_BYTES;
use same_file::Handle;

/// The complete lines of a log so far. At the end of the log, reads return [`ErrorKind::WouldBlock`] until `stopped` is set. A
/// last line without a line end is still being written. A truncated or replaced log is an error, since it is a different log.
pub(super) struct Growing {
    path: PathBuf,
    log: File,
    /// Number of bytes read from the log.
    position: u64,
    /// Buffer: the first `lines` bytes are complete lines; the beginning of the next line follows.
    read: Vec<u8>,
    lines: usize,
    stopped: Arc<AtomicBool>,
}

impl Growing {
    pub(super) fn open(path: &Path, stopped: Arc<AtomicBool>) -> io::Result<Self> {
        let log = File::open(path)?;
        Ok(Self { path: path.to_owned(), log, position: 0, read: Vec::new(), lines: 0, stopped })
    }

    /// Checks, at the end of the log, that it was neither truncated nor replaced.
    fn check_end(&self) -> io::Result<()> {
        let is_cut = self.log.metadata()?.len() < self.position;
        // There may briefly be no file while it is being replaced.
        let is_other = Handle::from_path(&self.path)
            .is_ok_and(|now| self.log.try_clone().and_then(Handle::from_file).is_ok_and(|log| log != now));
        match is_cut || is_other {
            true => {
                Err(io::Error::other("it was truncated or replaced; publish the new content with another `--source`"))
            }
            false => Ok(()),
        }
    }

    fn read_more(&mut self) -> io::Result<()> {
        let mut more = [0; 64 * 1024];
        let count = self.log.read(&mut more)?;
        if count == 0 {
            self.check_end()?;
            return if self.stopped.load(Ordering::Relaxed) { Ok(()) } else { Err(ErrorKind::WouldBlock.into()) };
        }
        let more = more.get(..count).unwrap_or_default();
        if self.position == 0 && COMPRESSED.iter().any(|magic| more.starts_with(magic)) {
            return Err(io::Error::other("it is compressed; publish it without `--follow`"));
        }
        self.position += count as u64;
        let before = self.read.len();
        self.read.extend_from_slice(more);
        self.lines = match more.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => before + end + 1,
            // Passes on an overlong line, which the reader rejects.
            None if self.read.len() > MAX_LINE_BYTES => self.read.len(),
            None => 0,
        };
        Ok(())
    }
}

impl Read for Growing {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.lines == 0 {
            let before = self.position;
            self.read_more()?;
            if self.position == before {
                return Ok(0);
            }
        }
        let count = self.lines.min(out.len());
        for (to, from) in out.iter_mut().zip(self.read.drain(..count)) {
            *to = from;
        }
        self.lines -= count;
        Ok(count)
    }
}

/// Magic bytes of gzip and zstd.
const COMPRESSED: [&[u8]; 2] = [b"\x1f\x8b", b"\x28\xb5\x2f\xfd"];

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// Returns the next bytes, if any.
    fn next(growing: &mut Growing) -> io::Result<Option<String>> {
        let mut out = [0; 3];
        match growing.read(&mut out) {
            Ok(count) => Ok(Some(out.iter().take(count).map(|byte| char::from(*byte)).collect())),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    #[test]
    fn a_line_comes_when_it_has_its_end() -> io::Result<()> {
        let mut file = tempfile::NamedTempFile::new()?;
        let stopped = Arc::new(AtomicBool::new(false));
        let mut growing = Growing::open(file.path(), Arc::clone(&stopped))?;
        let some = |text: &str| Some(text.to_owned());
        file.write_all(b"one\ntw")?;
        assert_eq!([next(&mut growing)?, next(&mut growing)?, next(&mut growing)?], [some("one"), some("\n"), None]);
        file.write_all(b"o\nthree")?;
        assert_eq!([next(&mut growing)?, next(&mut growing)?, next(&mut growing)?], [some("two"), some("\n"), None]);
        stopped.store(true, Ordering::Relaxed);
        assert_eq!(next(&mut growing)?, some(""), "the third line has no line ending");
        Ok(())
    }

    #[test]
    fn another_log_is_an_error() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("log");
        let open = |text: &[u8]| {
            std::fs::write(&path, text)?;
            Growing::open(&path, Arc::default())
        };
        let mut cut = open(b"one\ntwo\n")?;
        while next(&mut cut)?.is_some() {}
        std::fs::write(&path, b"one\n")?;
        assert!(next(&mut cut).is_err());
        let mut replaced = open(b"one\n")?;
        while next(&mut replaced)?.is_some() {}
        std::fs::write(folder.path().join("new"), b"one\nthree\n")?;
        std::fs::rename(folder.path().join("new"), &path)?;
        assert!(next(&mut replaced).is_err());
        assert!(next(&mut open(b"\x1f\x8b\x08\x00")?).is_err(), "an archive");
        Ok(())
    }
}
