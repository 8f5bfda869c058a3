//! The file of a session's episodes, to which each process appends the packets of one event.
//!
//! A session may be long, and an event must be handled quickly: the packets that matter are near the end, so the file is read
//! from there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::Arc;

use omen_fsm::episode::{Line, Log};
use omen_types::PacketFacts;

use super::numbered_ids::NumberedIds;
use super::partial_write;

/// File that is open for one event. It has one writer at a time, as the caller ensures.
#[derive(Clone, Debug)]
pub(super) struct CallFile(Arc<File>);

impl CallFile {
    /// Opens or creates the file and its folder. Half a line at its end is moved to a file beside it.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = match options.open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create_folder(path.parent().unwrap_or(Path::new(".")))?;
                options.open(path)
            }
            opened => opened,
        }?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        let file = Self(Arc::new(file));
        let end = file.from(file.len()?.saturating_sub(1))?;
        if !end.is_empty() && !end.ends_with(b"\n") {
            let bytes = file.from(0)?;
            let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            partial_write::set_aside(&file.0, path, whole as u64)?;
        }
        Ok(file)
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    /// The last episode, with its lines.
    pub(super) fn last_episode(&self) -> io::Result<Option<(String, Vec<String>)>> {
        let mut window = WINDOW;
        loop {
            let (lines, is_whole) = self.last_lines(window)?;
            if let Some(last) = lines.last() {
                let Some((episode, _)) = ids(last) else { return Ok(None) };
                let lines = self.lines_of(&episode)?;
                return Ok(Some((episode, lines)));
            }
            if is_whole {
                return Ok(None);
            }
            window = window.saturating_mul(GROWTH);
        }
    }

    /// The lines of an episode, from its first packet on.
    pub(super) fn lines_of(&self, episode: &str) -> io::Result<Vec<String>> {
        let mut window = WINDOW;
        loop {
            let (mut lines, is_whole) = self.last_lines(window)?;
            lines.retain(|line| line.contains(episode) && ids(line).is_some_and(|(own, _)| own == episode));
            let is_first = |line: &String| ids(line).is_some_and(|(_, packet)| packet == NumberedIds::FIRST_PACKET);
            if is_whole || lines.first().is_some_and(is_first) {
                return Ok(lines);
            }
            window = window.saturating_mul(GROWTH);
        }
    }

    /// The whole lines in so many bytes at the end, and whether they are all of the file.
    fn last_lines(&self, window: u64) -> io::Result<(Vec<String>, bool)> {
        let start = self.len()?.saturating_sub(window);
        let bytes = self.from(start)?;
        let lines = String::from_utf8_lossy(&bytes);
        // A window may begin within a line.
        let skipped = usize::from(start > 0);
        Ok((lines.lines().skip(skipped).map(str::to_owned).collect(), start == 0))
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn from(&self, start: u64) -> io::Result<Vec<u8>> {
        let (mut file, mut bytes) = (&*self.0, Vec::new());
        file.seek(SeekFrom::Start(start))?;
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl Log for CallFile {
    fn append(&mut self, lines: &[Line<'_>]) -> io::Result<()> {
        let text: String = lines.iter().flat_map(|line| [line.text, "\n"]).collect();
        (&*self.0).write_all(text.as_bytes())
    }
}

/// The episode and the id of a packet. Text that only names an episode is not taken for one of its packets.
fn ids(line: &str) -> Option<(String, String)> {
    let facts = PacketFacts::parse(line).ok()?;
    Some((facts.header.correlation_id.to_string(), facts.header.packet_id.to_string()))
}

fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Bytes at the end of a file in which the lines of a call most often are.
const WINDOW: u64 = 256 << 10;

/// How much further back it is read if they are not.
const GROWTH: u64 = 8;
