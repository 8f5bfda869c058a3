//! Confirmations over a Unix socket (G3): a gate publishes its questions there, and front ends answer them.
//!
//! [`SocketConfirmer`] is the gate's side, and [`FrontEnd`] the other side, used by `omen gate confirm`. Only processes of
//! the user who runs the gate can answer: the socket is accessible only to that user (0600, in a folder with 0700), and the
//! kernel reports the user of each connection. The audit log records that user.
//!
//! # The protocol
//!
//! Each line is one JSON object in UTF-8, with a `type`. The gate begins:
//!
//! ```json
//! {"type":"hello","protocol":1,"pid":4711}
//! {"type":"question","id":1,"server":"files","tool":"write_file","permissions":["READ","WRITE"],"args":"{\"path\":\"a.txt\"}","hash":"9f86…","turn":"t1","seconds_left":57}
//! {"type":"listed"}
//! ```
//!
//! The questions before `listed` are already waiting; later ones are sent as they are asked. `args` is a text: the arguments
//! as canonical JSON (RFC 8785), exactly as they will be sent and as covered by the `hash`, together with server and tool. A
//! front end answers with the id and the hash of the question that it has shown:
//!
//! ```json
//! {"type":"answer","id":1,"hash":"9f86…","confirm":true}
//! {"type":"answer","id":1,"hash":"9f86…","confirm":false,"why":"wrong folder"}
//! ```
//!
//! and receives whether the answer counts:
//!
//! ```json
//! {"type":"accepted","id":1}
//! {"type":"refused","id":1,"why":"it was confirmed before, by ann"}
//! ```
//!
//! The first answer counts. All front ends are notified of the outcome of a question: `confirmed`, `denied`,
//! `timed_out`, or `withdrawn` if its call ended in another way.
//!
//! ```json
//! {"type":"closed","id":1,"outcome":"confirmed","by":{"via":"socket","uid":1000,"user":"ann"}}
//! ```
//!
//! Readers ignore unknown fields and types. The gate does not: an answer with an unknown or repeated field is refused, and
//! a line that exceeds [`MAX_ANSWER`] bytes ends the connection.

mod front_end;
mod message;
mod peer;
mod questions;
mod service;
mod socket_path;

use std::fmt;
use std::path::Path;

use async_trait::async_trait;
pub use front_end::{Answers, FrontEnd, Unreachable};
pub use message::{Answer, AnswerType, Message, OutcomeOfQuestion, PROTOCOL};
use omen_gate::Confirmer;
use omen_gate::confirm::{Question, Reply};
pub use questions::MAX_WAITING;
pub use service::{MAX_ANSWER, MAX_FRONT_ENDS};
pub use socket_path::{PrivateListener, SocketError, connect};
use tokio::task::JoinHandle;

use self::questions::Questions;
use self::socket_path::SocketPath;

/// Publishes a gate's questions on a Unix socket. Dropping this removes the socket and withdraws the waiting questions.
///
/// A question waits until it is answered or the gate stops waiting: a front end may still connect to answer it.
pub struct SocketConfirmer {
    questions: Questions,
    service: JoinHandle<()>,
    socket: SocketPath,
    announce: Option<Announce>,
}

/// Callback for each question that begins to wait.
type Announce = Box<dyn Fn(&Question) + Send + Sync>;

impl fmt::Debug for SocketConfirmer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SocketConfirmer")
            .field("questions", &self.questions)
            .field("socket", &self.socket)
            .finish_non_exhaustive()
    }
}

impl SocketConfirmer {
    /// Creates the socket, and its folder if there is none. A socket left by a dead process is replaced. Must be called
    /// within a tokio runtime with time and I/O enabled.
    ///
    /// # Errors
    /// If a live gate uses the socket, other users have permissions on its folder, or it cannot be created.
    pub fn bind(path: &Path) -> Result<Self, SocketError> {
        let PrivateListener { listener, socket } = PrivateListener::bind(path)?;
        let questions = Questions::new();
        let service = tokio::spawn(service::serve(listener, questions.clone()));
        Ok(Self { questions, service, socket, announce: None })
    }

    /// Sets a callback for each question that begins to wait, e.g. to alert an operator who is not watching the socket.
    #[must_use]
    pub fn announce(mut self, announce: impl Fn(&Question) + Send + Sync + 'static) -> Self {
        self.announce = Some(Box::new(announce));
        self
    }

    /// Returns the path of the socket.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.socket.path
    }
}

impl Drop for SocketConfirmer {
    fn drop(&mut self) {
        self.service.abort();
    }
}

#[async_trait]
impl Confirmer for SocketConfirmer {
    async fn confirm(&self, question: &Question) -> Reply {
        self.announce.iter().for_each(|announce| announce(question));
        self.questions.ask(question).await
    }
}
