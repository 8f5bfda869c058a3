//! Confirmations over a Unix socket.

mod answers;
mod hostile;
mod place;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use omen_gate::confirm::{ConfirmLimits, Confirmations};
use omen_gate::{Blocked, Call, Confirmed, Decision, Demand, Permission, Permissions, SystemClock, ToolId};
use omen_proxy::confirm::{Answer, Answers, FrontEnd, Message, SocketConfirmer};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;

/// A confirmer at its socket, in a folder of its own.
pub(crate) struct World {
    pub(crate) folder: TempDir,
    confirmations: Confirmations,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::waiting(Duration::from_secs(60))
    }

    pub(crate) fn waiting(timeout: Duration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let confirmer = SocketConfirmer::bind(&folder.path().join("run/confirm.sock")).unwrap();
        let limits = ConfirmLimits { timeout, valid: Duration::from_secs(30) };
        let confirmations = Confirmations::new(Arc::new(confirmer), Arc::new(SystemClock::default()), limits);
        Self { folder, confirmations }
    }

    pub(crate) fn socket(&self) -> std::path::PathBuf {
        self.folder.path().join("run/confirm.sock")
    }

    /// Asks about a call, and gives what is logged and what comes of it.
    pub(crate) fn ask(&self, args: Value) -> JoinHandle<(Decision, Result<Confirmed, Blocked>)> {
        let (confirmations, call) = (self.confirmations.clone(), call(args));
        tokio::spawn(async move {
            let ruling = confirmations.ask(&call).await;
            let decision = ruling.decision().clone();
            (decision, ruling.recorded(|_| Ok::<_, Blocked>(())))
        })
    }
}

pub(crate) fn call(args: Value) -> Call {
    let tool = ToolId { server: "files".parse().unwrap(), tool: "write_file".parse().unwrap() };
    let permissions = Permissions::new([Permission::Read, Permission::Write]).unwrap();
    let demand = Demand { tool, permissions, always_confirm: false };
    Call::new("turn_1".parse().unwrap(), demand, args.as_object().unwrap().clone()).unwrap()
}

/// A front end, on a thread of its own, for it blocks.
pub(crate) struct Person {
    lines: tokio::sync::mpsc::UnboundedReceiver<Message>,
    answers: Answers,
}

impl Person {
    /// Connects, and gives what waits already.
    pub(crate) async fn come(socket: &Path) -> (Self, Vec<Message>) {
        let mut front_end = FrontEnd::connect(socket).unwrap();
        let answers = front_end.answers().unwrap();
        let (sender, lines) = tokio::sync::mpsc::unbounded_channel();
        std::thread::spawn(move || {
            while let Ok(Some((_, message))) = front_end.next_message() {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut person = Self { lines, answers };
        let mut waiting = Vec::new();
        loop {
            match person.next().await {
                Message::Listed => return (person, waiting),
                message => waiting.push(message),
            }
        }
    }

    pub(crate) async fn next(&mut self) -> Message {
        tokio::time::timeout(Duration::from_secs(60), self.lines.recv()).await.expect("in time").expect("a line")
    }

    pub(crate) fn answer(&mut self, question: &Message, confirm: bool) {
        let (id, hash) = named(question);
        self.answers.send(&Answer::new(id, hash, confirm)).unwrap();
    }

    pub(crate) fn say(&mut self, line: &str) {
        self.answers.send_line(line).unwrap();
    }
}

pub(crate) fn named(question: &Message) -> (u64, String) {
    match question {
        Message::Question { id, hash, .. } => (*id, hash.clone()),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn path(name: &str) -> Value {
    json!({ "path": name })
}
