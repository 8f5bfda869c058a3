//! The gates that listen at a socket, one after the other.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use omen::render::human::clean;
use omen_proxy::confirm::{FrontEnd, Unreachable};

use super::events::{Event, Events};
use crate::exit::{Failure, complain, unreadable};

/// Where gates listen, and whether one that does not yet, or not any more, is waited for.
pub(super) struct Gates {
    pub(super) socket: PathBuf,
    pub(super) waits: bool,
}

impl Gates {
    /// Connects to the gate that listens, and waits for one if that was asked for. What the user does in the meantime is given to
    /// `meanwhile`, which says whether to go on waiting; `None` if not.
    pub(super) fn reach(
        &self,
        events: &Events,
        mut meanwhile: impl FnMut(Event) -> io::Result<bool>,
    ) -> Result<Option<FrontEnd>, Failure> {
        let mut is_said = false;
        loop {
            match self.connect() {
                Ok(gate) => return Ok(Some(gate)),
                Err(error) if self.waits && error.is_temporary() => {}
                Err(error) => return Err(unreachable(error)),
            }
            if !std::mem::replace(&mut is_said, true) {
                let socket = self.socket.display().to_string();
                complain(format_args!("note: no gate listens at `{}` yet; waiting for one", clean(&socket)));
            }
            if let Some(event) = events.within(OFTEN)
                && !meanwhile(event)?
            {
                return Ok(None);
            }
        }
    }

    pub(super) fn connect(&self) -> Result<FrontEnd, Unreachable> {
        FrontEnd::connect(&self.socket)
    }
}

/// Reports that there is no gate.
pub(super) fn unreachable(error: Unreachable) -> Failure {
    unreadable(format_args!("{}; {}", clean(&error.to_string()), error.help()))
}

/// How often a gate is looked for.
const OFTEN: Duration = Duration::from_millis(200);
