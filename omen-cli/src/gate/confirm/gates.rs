//! Gates that listen on a socket, one after another.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use omen::render::human::clean;
use omen_proxy::confirm::{FrontEnd, Unreachable};

use super::events::{Event, Events};
use crate::exit::{Failure, complain, unreadable};

/// Socket on which gates listen, and whether to wait for a gate if none is listening.
pub(super) struct Gates {
    pub(super) socket: PathBuf,
    pub(super) waits: bool,
}

impl Gates {
    /// Connects to the listening gate, or waits for one if `waits` is set. User events that arrive meanwhile are passed to
    /// `meanwhile`, which returns whether to keep waiting; if it does not, the result is `None`.
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
                complain(format_args!("note: no gate is listening at `{}` yet; waiting for one", clean(&socket)));
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

/// Reports that no gate can be reached.
pub(super) fn unreachable(error: Unreachable) -> Failure {
    unreadable(format_args!("{}; {}", clean(&error.to_string()), error.help()))
}

/// Interval between attempts to connect to a gate.
const OFTEN: Duration = Duration::from_millis(200);
