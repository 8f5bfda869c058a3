//! Log that an episode writes to.

use std::io::{self, Write};

use omen_types::{CorrelationId, Diagnostic, PacketId};

/// Packet as a line of a log.
#[derive(Clone, Copy, Debug)]
pub struct Line<'l> {
    /// Packet id.
    pub packet_id: &'l PacketId,
    /// Episode to which the packet belongs.
    pub correlation_id: &'l CorrelationId,
    /// Packet as JSON, without a line break.
    pub text: &'l str,
}

/// Destination of packets.
pub trait Log: Send + Sync + 'static {
    /// Writes all packets of one move, in order, or returns an error. The move is complete only when this returns.
    ///
    /// # Errors
    /// The packets could not be written safely. The episode then never calls this method again, because the next line
    /// could follow half a line.
    fn append(&mut self, lines: &[Line<'_>]) -> io::Result<()>;

    /// Receives a warning about a packet that was just written.
    fn warn(&mut self, warning: &Diagnostic) {
        let _ = warning;
    }

    /// Returns whether the log is known to hold packets of an episode.
    fn holds(&self, episode: &CorrelationId) -> bool {
        let _ = episode;
        false
    }

    /// Returns whether `last` is the last packet of an episode that the log is known to hold. This prevents an episode
    /// from being resumed from a text that ends before the log does.
    fn ends_with(&self, episode: &CorrelationId, last: Option<&PacketId>) -> bool {
        let _ = (episode, last);
        true
    }

    /// Returns the lines, if the log keeps them.
    fn lines(&self) -> &[String] {
        &[]
    }
}

/// Log in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryLog {
    lines: Vec<String>,
}

impl Log for MemoryLog {
    fn append(&mut self, lines: &[Line<'_>]) -> io::Result<()> {
        self.lines.extend(lines.iter().map(|line| line.text.to_owned()));
        Ok(())
    }

    fn lines(&self) -> &[String] {
        &self.lines
    }
}

/// Log in JSON Lines, flushed after each move. After a writer error, nothing else is written; the log may hold the
/// move in whole, in part, or not at all.
#[derive(Debug)]
pub struct JsonLines<W>(pub W);

impl<W: Write + Send + Sync + 'static> Log for JsonLines<W> {
    fn append(&mut self, lines: &[Line<'_>]) -> io::Result<()> {
        // A single write for the whole move, so that a reader sees it atomically if the medium allows that.
        let mut text = String::with_capacity(lines.iter().map(|line| line.text.len() + 1).sum());
        for line in lines {
            text.push_str(line.text);
            text.push('\n');
        }
        self.0.write_all(text.as_bytes())?;
        self.0.flush()
    }
}
