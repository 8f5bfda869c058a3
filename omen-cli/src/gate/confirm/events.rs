//! What comes from the gate and what comes from the user, in the order in which it comes.

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use omen_proxy::confirm::{FrontEnd, Message};

use super::typed::{Line, Read, Typed};

pub(super) enum Event {
    /// A line of the gate, as it is and as it reads.
    Gate(String, Message),
    /// The gate has ended, or is not understood.
    GateEnded,
    /// A line of the user.
    Line(Line),
    /// The user has ended.
    InputEnded,
}

/// The events of one user and of the gates that run one after the other. The threads that read end with the process: there is no
/// way to call one back that reads.
pub(super) struct Events {
    /// Where the lines of the user come from.
    pub(super) typed: Typed,
    sender: Sender<Event>,
    receiver: Receiver<Event>,
}

impl Events {
    /// Begins to read what the user writes.
    pub(super) fn of_user() -> Self {
        let (sender, receiver) = mpsc::channel();
        let (typed, events) = (Typed::new(), sender.clone());
        let input = typed.clone();
        thread::spawn(move || {
            while let Read::Lines(lines) = input.read() {
                for line in lines {
                    if events.send(Event::Line(line)).is_err() {
                        return;
                    }
                }
            }
            let _ = events.send(Event::InputEnded);
        });
        Self { typed, sender, receiver }
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
