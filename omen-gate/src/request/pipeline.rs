//! The steps of a request: screened, planned, conformant, authorized, dispatched, typed, grounded.
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
//! Which method leads where, and the compile error elsewhere, is generated from `gate.json`. Each
//! step is written out once, as a function in `pipeline/steps/`.

#![allow(clippy::type_complexity, reason = "states are types: where a step leads is written out")]

mod never;
mod open;
mod promised;
mod steps;

pub use crate::request::state::*;

use serde::de::DeserializeOwned;

use never::Never;
use omen_types::{CorrelationId, PacketId};

use crate::answer::Summary;
use crate::base::{Blocked, ToolId, TurnId};
use crate::call::{Answer, Call};
use crate::request::audit_queue::EpisodePacket;
use crate::request::context::RequestContext;
use crate::request::gate::Gate;
use crate::request::plan::ToolCall;
use crate::request::stopped::Stopped;
use crate::request::user_inputs;

include!(concat!(env!("OUT_DIR"), "/pipeline.rs"));

/// A request in the state `S`, with the turn that it belongs to (A2).
#[must_use = "a request that is dropped goes no further"]
#[derive(Debug)]
pub struct Request<S> {
    pub(crate) gate: Gate,
    pub(crate) context: RequestContext,
    pub(crate) state: S,
}

impl<S> Request<S> {
    /// The same request, a step further.
    pub(crate) fn at<Next>(self, next: impl FnOnce(S) -> Next) -> Request<Next> {
        Request { gate: self.gate, context: self.context, state: next(self.state) }
    }

    /// The same request for a session of a client, whose calls are counted together (R2). [`Gate::end_turn`] with the id of the
    /// session forgets them.
    pub fn of_session(self, session: TurnId) -> Self {
        Self { context: self.context.of_session(session), ..self }
    }

    /// The same request as part of a turn of the user that has several requests, each with an id of its own: their failures and
    /// calls are counted together (R2), they make one call at a time, and each entry of the log has the turn as `user_turn`
    /// (A2). [`Gate::end_turn`] with its id forgets them.
    pub fn of_user_turn(self, user_turn: TurnId) -> Self {
        Self { context: self.context.of_user_turn(user_turn), ..self }
    }

    /// The same request for a packet of an episode: the entries of the audit log after this one name both. It does not bind the
    /// request to a directive, as [`Gate::run`] does.
    pub fn of_packet(self, packet_id: PacketId, correlation_id: CorrelationId) -> Self {
        Self { context: self.context.of_packet(EpisodePacket { packet_id: Some(packet_id), correlation_id }), ..self }
    }

    /// The turn.
    #[must_use]
    pub fn turn(&self) -> &TurnId {
        self.context.id()
    }
}

impl Gate {
    /// Takes a user's request in (A2). Nothing is done with it yet.
    pub fn request(&self, turn: TurnId, query: impl Into<String>) -> Request<Received> {
        let query = query.into();
        let context = RequestContext::new(turn, None, self.audit_queue().clone())
            .asked(user_inputs::query(&query))
            .querying(&query);
        Request { gate: self.clone(), context, state: Received { query } }
    }
}

/// Where a plan leads.
#[must_use = "a request that is dropped goes no further"]
#[derive(Debug)]
pub enum Way<Call = Request<Planned>, Ended = Request<Terminal>> {
    /// On, to a tool.
    Call(Call),
    /// To the user: nothing is called (PG-T).
    Terminal(Ended),
}

impl<Call, Ended> Way<Call, Ended> {
    /// The request that is to call a tool.
    ///
    /// # Errors
    /// The request that ends here, if the plan asks the user.
    pub fn call(self) -> Result<Call, Ended> {
        match self {
            Self::Call(request) => Ok(request),
            Self::Terminal(request) => Err(request),
        }
    }
}

impl Request<Planned> {
    /// What the plan asks for. It says nothing of whether the call may be made.
    #[must_use]
    pub fn planned(&self) -> &ToolCall {
        &self.state.call
    }
}

impl Request<Authorized> {
    /// The call that will be made.
    #[must_use]
    pub fn authorized(&self) -> &Call {
        self.state.lease.call()
    }
}

impl Request<Dispatched> {
    /// The answer as it came. Its text is the tool's, not this program's: show it with care.
    #[must_use]
    pub fn answer(&self) -> &Answer {
        &self.state.answer
    }

    /// The tool that gave it.
    #[must_use]
    pub fn tool(&self) -> &ToolId {
        &self.state.tool
    }
}

impl<T> Request<Typed<T>> {
    /// The answer as a value.
    #[must_use]
    pub fn value(&self) -> &T {
        self.state.payload.value()
    }

    /// The text that a summary has to quote: the answer as canonical JSON (RFC 8785).
    #[must_use]
    pub fn source_text(&self) -> &str {
        self.state.payload.text()
    }
}

impl<T> Request<Grounded<T>> {
    /// The answer as a value.
    #[must_use]
    pub fn value(&self) -> &T {
        self.state.payload.value()
    }

    /// The summary, each bullet of which quotes the answer.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        self.state.summary.summary()
    }

    /// Value and summary.
    #[must_use]
    pub fn into_value_and_summary(self) -> (T, Summary) {
        (self.state.payload.into_value(), self.state.summary.into_summary())
    }
}

impl Request<Terminal> {
    /// What the user is asked. It is not blank.
    #[must_use]
    pub fn answer(&self) -> &str {
        self.state.answer.answer()
    }
}

impl Request<Untyped> {
    /// The answer as it came.
    #[must_use]
    pub fn raw(&self) -> &Answer {
        self.state.raw.answer()
    }

    /// Why it could not be typed: the mark that goes with the raw answer.
    #[must_use]
    pub fn why(&self) -> &Blocked {
        self.state.raw.why()
    }
}
