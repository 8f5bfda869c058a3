//! The way of a request: screened, planned, conformant, authorized, dispatched, typed, grounded.
//!
//! Each step is a method of the state before it, takes the request and gives it back in the next state. A
//! request cannot be cloned, so no step is taken twice, and there is no other way to a tool:
//!
//! ```compile_fail,E0277
//! use omen_gate::pipeline::*;
//!
//! async fn hasty(request: Request<Screened>) {
//!     // PG-1: there is no plan yet, or none that was read.
//!     let _ = request.dispatch();
//! }
//! ```
//!
//! A step that refuses ends the request: the refusal is in the audit log, and the request is gone.
//!
//! Which method leads where, and what the compiler answers elsewhere, is generated from `gate.json`. Each
//! step is written out once, as a function in `pipeline/steps/`.

#![allow(clippy::type_complexity, reason = "states are types: where a step leads is written out")]

mod never;
mod open;
mod state;
mod steps;

pub use state::*;

use never::Never;

use crate::gate::Gate;
use serde::de::DeserializeOwned;

use crate::summary::Summary;
use crate::turn_state::TurnState;
use crate::{Blocked, Stopped};

include!(concat!(env!("OUT_DIR"), "/pipeline.rs"));

/// A request in the state `S`, with the turn that it belongs to (A2).
#[must_use = "a request that is dropped goes no further"]
#[derive(Debug)]
pub struct Request<S> {
    pub(crate) gate: Gate,
    pub(crate) turn: TurnState,
    pub(crate) state: S,
}

impl<S> Request<S> {
    /// The same request, a step further.
    pub(crate) fn at<Next>(self, next: impl FnOnce(S) -> Next) -> Request<Next> {
        Request { gate: self.gate, turn: self.turn, state: next(self.state) }
    }

    /// The turn.
    #[must_use]
    pub fn turn(&self) -> &crate::TurnId {
        self.turn.id()
    }
}
