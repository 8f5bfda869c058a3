//! `omen gate confirm --json`: passes lines to and from another front end.

use std::io::Write as _;

use omen_proxy::confirm::{FrontEnd, Message};

use super::events::{self, Event};
use crate::exit::{Exit, Failure, complain};
use crate::output::Output;

/// Passes lines until the input has ended and each answer was taken or refused.
pub(super) fn relay(gate: FrontEnd, out: &mut Output) -> Result<Exit, Failure> {
    let mut answers = gate.answers().map_err(|error| Failure::Internal(error.to_string()))?;
    let (mut open, mut has_ended) = (0_u64, false);
    for event in events::of(gate) {
        match event {
            Event::Gate(line, message) => {
                writeln!(out, "{line}")?;
                out.flush()?;
                if matches!(message, Message::Accepted { .. } | Message::Refused { .. }) {
                    open = open.saturating_sub(1);
                }
            }
            Event::Line(line) if answers.send_line(&line).is_ok() => open += 1,
            // That the gate is gone comes as an event, too.
            Event::Line(_) => {}
            Event::InputEnded => has_ended = true,
            Event::GateEnded => break,
        }
        if has_ended && open == 0 {
            return Ok(Exit::Clean);
        }
    }
    if open > 0 {
        complain("the gate ended before it took the answer");
        return Ok(Exit::Unreadable);
    }
    complain("note: the gate has ended");
    Ok(Exit::Clean)
}
