//! What comes from the gate and what comes from the user, in the order in which it comes.

use std::io::{self, BufRead as _};
use std::sync::mpsc::{self, Receiver};
use std::thread;

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

/// Reads from both. The threads end with the process: there is no way to call one back that reads.
pub(super) fn of(mut gate: FrontEnd) -> Receiver<Event> {
    let (events, receiver) = mpsc::channel();
    let lines = events.clone();
    thread::spawn(move || {
        while let Ok(Some((line, message))) = gate.next_message() {
            if events.send(Event::Gate(line, message)).is_err() {
                return;
            }
        }
        // That nobody listens any more is as good.
        let _ = events.send(Event::GateEnded);
    });
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
    receiver
}
