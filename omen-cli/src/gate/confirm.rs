//! `omen gate confirm`: answers the questions of a gate, which wait at its socket.

mod events;
mod program;
mod question;
mod terminal;

use std::path::PathBuf;

use omen::render::human::clean;
use omen_proxy::confirm::FrontEnd;

use self::question::Shown;
use super::config;
use crate::args::GateConfirmArgs;
use crate::exit::{Exit, Failure, complain};
use crate::output::Output;

pub(crate) fn confirm(args: &GateConfirmArgs, out: &mut Output) -> Result<Exit, Failure> {
    let Some(socket) = socket(args) else { return Ok(Exit::Unreadable) };
    let gate = match FrontEnd::connect(&socket) {
        Ok(gate) => gate,
        Err(error) => {
            complain(format_args!(
                "{}; start the gate, or name its configuration or socket",
                clean(&error.to_string())
            ));
            return Ok(Exit::Unreadable);
        }
    };
    match (args.list, args.json) {
        (true, is_json) => list(gate, is_json, out),
        (false, true) => program::relay(gate, out),
        (false, false) => terminal::ask(gate, out),
    }
}

/// Where the gate listens. Errors of the configuration are reported here.
fn socket(args: &GateConfirmArgs) -> Option<PathBuf> {
    match &args.socket {
        Some(socket) => Some(socket.clone()),
        None => config::load(&args.config).map(|config| config.confirm_socket()),
    }
}

/// Prints what waits now.
fn list(mut gate: FrontEnd, is_json: bool, out: &mut Output) -> Result<Exit, Failure> {
    use std::io::Write as _;

    use omen_proxy::confirm::Message;

    let mut count = 0;
    loop {
        match gate.next_message() {
            Ok(Some((_, Message::Listed))) => break,
            Ok(Some((line, message @ Message::Question { .. }))) => {
                count += 1;
                match Shown::of(message).filter(|_| !is_json) {
                    Some(question) => question.print(out)?,
                    None => writeln!(out, "{line}")?,
                }
            }
            // What happens in the meantime is not in a list.
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => {
                out.flush()?;
                complain("the gate has ended");
                return Ok(Exit::Unreadable);
            }
        }
    }
    if count == 0 && !is_json {
        writeln!(out, "no call waits")?;
    }
    out.flush()?;
    Ok(Exit::Clean)
}
