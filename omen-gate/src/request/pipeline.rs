//! The way of a request: screened, planned, conformant, authorized, dispatched, typed, grounded.
//!
//! Each step is a method of the state before it, takes the request and gives it back in the next state. A
//! request cannot be cloned, so no step is taken twice, and there is no other way to a tool:
//!
//! ```compile_fail,E0277
//! use omen_gate::pipeline::*;
//!
//! async fn hasty(request: Request<Screened>) {
//!     // PG-1: there is no valid plan yet.
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
mod steps;

pub use crate::request::state::*;

use serde::de::DeserializeOwned;

use never::Never;

use crate::answer::Summary;
use crate::base::{Blocked, TurnId};
use crate::request::context::RequestContext;
use crate::request::gate::Gate;
use crate::request::stopped::Stopped;
use crate::request::user_inputs;

include!(concat!(env!("OUT_DIR"), "/pipeline.rs"));

impl Gate {
    /// Takes a user's request in (A2). Nothing is done with it yet.
    pub fn request(&self, turn: TurnId, query: impl Into<String>) -> Request<Received> {
        let query = query.into();
        let context = RequestContext::new(turn, None, self.audit_queue().clone()).asked(user_inputs::query(&query));
        Request { gate: self.clone(), context, state: Received { query } }
    }
}
