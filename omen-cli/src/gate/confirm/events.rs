//! What comes from the gate and what comes from the user, in the order in which it comes.

use std::io::{self, BufRead as _};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use omen_proxy::confirm::{FrontEnd, Message};

pub(super) enum Event {
    /// A line of the gate, as it is and as it reads.
    Gate(String, Message),
    /// The gate has ended, or is not understood.
    GateEnded,
    /// A line of the user.
    Line(String),
    /// The user has ended.
    InputEnded,
}

/// The events of one user and of the gates that run one after the other. The threads that read end with the process: there is no
/// way to call one back that reads.
pub(super) struct Events {
    sender: Sender<Event>,
    receiver: Receiver<Event>,
}

impl Events {
    /// Begins to read what the user writes.
    pub(super) fn of_user() -> Self {
        let (sender, receiver) = mpsc::channel();
        let lines = sender.clone();
        thread::spawn(move || {
            for line in io::stdin().lock().lines() {
                // Bytes that are not text are not an answer.
                let Ok(line) = line else { break };
                if lines.send(Event::Line(line)).is_err() {
                    return;
                }
            }
            let _ = lines.send(Event::InputEnded);
        });
        Self { sender, receiver }
    }

    /// Reads what a gate says, too, until it ends.
    pub(super) fn listen(&self, mut gate: FrontEnd) {
        let events = self.sender.clone();
        thread::spawn(move || {
            while let Ok(Some((line, message))) = gate.next_message() {
                if events.send(Event::Gate(line, message)).is_err() {
                    return;
                }
            }
            // That nobody listens any more is as good.
            let _ = events.send(Event::GateEnded);
        });
    }

    /// Waits for the next event.
    pub(super) fn next(&self) -> Event {
        // INVARIANT: a sender is held, so the channel is open.
        self.receiver.recv().unwrap_or(Event::GateEnded)
    }

    /// Waits so long for the next event.
    pub(super) fn within(&self, time: Duration) -> Option<Event> {
        self.receiver.recv_timeout(time).ok()
    }
}
