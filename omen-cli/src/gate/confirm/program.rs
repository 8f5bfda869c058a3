//! `omen gate confirm --json`: relays lines between the gate and another front end.

use std::io::Write as _;

use omen_proxy::confirm::{Answers, Message};

use super::events::{Event, Events};
use super::gates::Gates;
use crate::exit::{Exit, Failure, complain};
use crate::output::Output;

/// Relays lines until the input has ended and each answer was accepted or refused.
pub(super) fn relay(gates: &Gates, out: &mut Output) -> Result<Exit, Failure> {
    let events = Events::of_user();
    let (mut has_ended, mut exit) = (false, Exit::Clean);
    loop {
        let reached = gates.reach(&events, |event| {
            if matches!(event, Event::Line(_)) {
                complain("no gate is listening, so the answer is dropped");
            }
            Ok(!matches!(event, Event::InputEnded))
        })?;
        let Some(gate) = reached else { return Ok(exit) };
        let answers = gate.answers().map_err(|error| Failure::Internal(error.to_string()))?;
        events.listen(gate);
        match pass(&events, answers, &mut has_ended, out)? {
            ProgramEnd::User => return Ok(exit),
            ProgramEnd::Gate { is_lost } => {
                if is_lost {
                    complain("the gate stopped before it accepted the answer");
                    exit = Exit::Unreadable;
                } else {
                    complain("note: the gate has stopped");
                }
            }
        }
        if !gates.waits || has_ended {
            return Ok(exit);
        }
    }
}

/// The side that ended a connection.
enum ProgramEnd {
    User,
    Gate { is_lost: bool },
}

/// Relays lines to and from one gate.
fn pass(events: &Events, mut answers: Answers, has_ended: &mut bool, out: &mut Output) -> Result<ProgramEnd, Failure> {
    let mut open = 0_u64;
    loop {
        match events.next() {
            Event::Gate(line, message) => {
                writeln!(out, "{line}")?;
                out.flush()?;
                if matches!(message, Message::Accepted { .. } | Message::Refused { .. }) {
                    open = open.saturating_sub(1);
                }
            }
            Event::Line(line) if answers.send_line(&line.text).is_ok() => open += 1,
            // Sending failed: the gate has ended, which also arrives as an event.
            Event::Line(_) => {}
            Event::InputEnded => *has_ended = true,
            Event::GateEnded => return Ok(ProgramEnd::Gate { is_lost: open > 0 }),
        }
        if *has_ended && open == 0 {
            return Ok(ProgramEnd::User);
        }
    }
}
