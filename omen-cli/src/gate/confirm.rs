//! `omen gate confirm`: answers the questions that wait at a gate's socket.

mod events;
mod gates;
mod program;
mod question;
mod terminal;
mod typed;

use std::io::IsTerminal as _;

use omen_proxy::confirm::FrontEnd;

use self::gates::{Gates, unreachable};
use self::question::ShownQuestion;
use super::config;
use crate::args::GateConfirmArgs;
use crate::exit::{Exit, Failure, unreadable};
use crate::output::Output;

pub(crate) fn confirm(args: &GateConfirmArgs, out: &mut Output) -> Result<Exit, Failure> {
    let socket = match &args.socket {
        Some(socket) => socket.clone(),
        None => config::load(&args.config)?.confirm_socket(),
    };
    // A person at a terminal may be there before the first call, and stay after a session has ended.
    let waits = args.wait || (!args.list && !args.json && std::io::stdin().is_terminal());
    let gates = Gates { socket, waits };
    match (args.list, args.json) {
        (true, is_json) => list(gates.connect().map_err(unreachable)?, is_json, out),
        (false, true) => program::relay(&gates, out),
        (false, false) => terminal::ask(&gates, out),
    }
}

/// Prints the questions that are waiting now.
fn list(mut gate: FrontEnd, is_json: bool, out: &mut Output) -> Result<Exit, Failure> {
    use std::io::Write as _;

    use omen_proxy::confirm::Message;

    let mut count = 0;
    loop {
        match gate.next_message() {
            Ok(Some((_, Message::Listed))) => break,
            Ok(Some((line, message @ Message::Question { .. }))) => {
                count += 1;
                match ShownQuestion::from_message(message).filter(|_| !is_json) {
                    Some(question) => question.print(out)?,
                    None => writeln!(out, "{line}")?,
                }
            }
            // Events in the meantime are not part of the list.
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => {
                out.flush()?;
                return Err(unreadable("the gate has ended"));
            }
        }
    }
    if count == 0 && !is_json {
        writeln!(out, "no call is waiting")?;
    }
    out.flush()?;
    Ok(Exit::Clean)
}
