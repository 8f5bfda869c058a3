//! The other side of the socket, which shows questions and sends answers.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use super::message::{Answer, Message, PROTOCOL};
use super::socket_path;

/// Blocking connection to the socket of a gate.
#[derive(Debug)]
pub struct FrontEnd {
    reader: BufReader<UnixStream>,
    writer: UnixStream,
}

/// Reason why no gate can be reached.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unreachable {
    /// Nobody listens on the socket.
    #[error("no gate is listening at `{path}`: {source}")]
    Nobody {
        /// Path of the socket.
        path: PathBuf,
        /// Cause of the failure.
        source: io::Error,
    },
    /// Another user owns the socket, and could show questions that are not the gate's.
    #[error("the socket `{path}` belongs to another user ({uid})")]
    Foreign {
        /// Path of the socket.
        path: PathBuf,
        /// Owner of the socket.
        uid: u32,
    },
    /// The connection ended before the first line.
    #[error("the gate at `{path}` has stopped")]
    Ended {
        /// Path of the socket.
        path: PathBuf,
    },
    /// The listener speaks another protocol.
    #[error("the listener at `{path}` is not a gate, or is one of another version: {why}")]
    Other {
        /// Path of the socket.
        path: PathBuf,
        /// Description of the difference.
        why: String,
    },
}

impl Unreachable {
    /// Returns whether a gate may listen there later: there is none now, but nothing is wrong.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Nobody { source, .. } => {
                matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
            }
            Self::Ended { .. } => true,
            Self::Foreign { .. } | Self::Other { .. } => false,
        }
    }

    /// Returns the help: how to fix the error.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Nobody { .. } | Self::Ended { .. } => {
                "start the gate, wait for it with `--wait`, or specify its configuration or socket"
            }
            Self::Foreign { .. } => "run this as the user who runs the gate",
            Self::Other { .. } => "use the same `omen` as the gate",
        }
    }
}

/// Maximum length of a line from a gate, in bytes: a question whose arguments are as long as any configuration allows, escaped.
const MAX_LINE: u64 = 64 << 20;

impl FrontEnd {
    /// Connects, and checks that the gate belongs to this user and speaks this protocol.
    ///
    /// # Errors
    /// If no such gate can be reached.
    pub fn connect(path: &Path) -> Result<Self, Unreachable> {
        let nobody = |source| Unreachable::Nobody { path: path.to_owned(), source };
        let uid = path.metadata().map_err(nobody)?.uid();
        if uid != rustix::process::geteuid().as_raw() {
            return Err(Unreachable::Foreign { path: path.to_owned(), uid });
        }
        let writer = socket_path::connect(path).map_err(nobody)?;
        let reader = BufReader::new(writer.try_clone().map_err(nobody)?);
        let mut front_end = Self { reader, writer };
        let other = |why: String| Unreachable::Other { path: path.to_owned(), why };
        let hello = match front_end.next_message() {
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => None,
            hello => hello.map_err(|error| other(error.to_string()))?,
        };
        match hello {
            None => Err(Unreachable::Ended { path: path.to_owned() }),
            Some((_, Message::Hello { protocol: PROTOCOL, .. })) => Ok(front_end),
            Some((_, Message::Hello { protocol, .. })) => {
                Err(other(format!("it speaks version {protocol} of the protocol")))
            }
            _ => Err(other("it does not send a hello".to_owned())),
        }
    }

    /// Waits for the next line; `None` when the gate has ended. The text is the line as received.
    ///
    /// # Errors
    /// If the line cannot be read.
    pub fn next_message(&mut self) -> io::Result<Option<(String, Message)>> {
        let mut line = String::new();
        if (&mut self.reader).take(MAX_LINE).read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end_matches('\n').to_owned();
        let message = serde_json::from_str(&line)?;
        Ok(Some((line, message)))
    }

    /// Returns a sender of answers that can be used while [`next_message`](Self::next_message) waits.
    ///
    /// # Errors
    /// If the system has no descriptor for it.
    pub fn answers(&self) -> io::Result<Answers> {
        Ok(Answers(self.writer.try_clone()?))
    }
}

/// Sender of answers to a gate.
#[derive(Debug)]
pub struct Answers(UnixStream);

impl Answers {
    /// Sends an answer. The gate reports on another line whether the answer counts.
    ///
    /// # Errors
    /// If the gate has ended.
    pub fn send(&mut self, answer: &Answer) -> io::Result<()> {
        self.send_line(&serde_json::to_string(answer)?)
    }

    /// Sends a line, which the gate checks.
    ///
    /// # Errors
    /// If the gate has ended.
    pub fn send_line(&mut self, line: &str) -> io::Result<()> {
        self.0.write_all(format!("{line}\n").as_bytes())
    }
}
