//! Events from the gate and from the user, in order of arrival.

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use omen_proxy::confirm::{FrontEnd, Message};

use super::typed::{Read, TypedInput, TypedLine};

pub(super) enum Event {
    /// A line from the gate, as text and parsed.
    Gate(String, Message),
    /// The gate has ended, or sent something invalid.
    GateEnded,
    /// A line from the user.
    Line(TypedLine),
    /// The user's input has ended.
    InputEnded,
}

/// Events of one user, and of gates that run one after another. The reading threads live until the process ends, because a
/// blocking read cannot be cancelled.
pub(super) struct Events {
    /// Source of the user's lines.
    pub(super) typed: TypedInput,
    sender: Sender<Event>,
    receiver: Receiver<Event>,
}

impl Events {
    /// Starts reading the user's input.
    pub(super) fn of_user() -> Self {
        let (sender, receiver) = mpsc::channel();
        let (typed, events) = (TypedInput::new(), sender.clone());
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

    /// Starts reading a gate's messages too, until the gate ends.
    pub(super) fn listen(&self, mut gate: FrontEnd) {
        let events = self.sender.clone();
        thread::spawn(move || {
            while let Ok(Some((line, message))) = gate.next_message() {
                if events.send(Event::Gate(line, message)).is_err() {
                    return;
                }
            }
            // An error means that the receiver is gone, which is fine.
            let _ = events.send(Event::GateEnded);
        });
    }

    pub(super) fn next(&self) -> Event {
        // INVARIANT: a sender is held, so the channel is open.
        self.receiver.recv().unwrap_or(Event::GateEnded)
    }

    /// Waits for the next event, at most for `time`.
    pub(super) fn within(&self, time: Duration) -> Option<Event> {
        self.receiver.recv_timeout(time).ok()
    }
}
