//! Steps of a request: screened, planned, conformant, authorized, dispatched, typed, grounded.
//!
//! Each step is a method of the preceding state. It consumes the request and returns it in the next state. A request
//! cannot be cloned, so no step runs twice, and nothing else leads to a tool:
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
//! A step that refuses ends the request: it records the refusal and drops the request.
//!
//! The methods of each state, and the compile errors for the other states, are generated from `gate.json`. Each step is
//! implemented once, as a function in `pipeline/steps/`.

#![allow(clippy::type_complexity, reason = "the types of the steps spell out which states they lead to")]

mod call_guard;
mod never;
mod steps;

pub use crate::request::state::*;

use serde::de::DeserializeOwned;

use never::Never;
use omen_types::{CorrelationId, PacketId};

use crate::answer::Summary;
use crate::base::{Blocked, ToolId, TurnId};
use crate::call::{Answer, Call, ToolCall};
use crate::request::audit_queue::EpisodePacket;
use crate::request::context::RequestContext;
use crate::request::gate::Gate;
use crate::request::stopped::Stopped;
use crate::request::user_inputs;

include!(concat!(env!("OUT_DIR"), "/pipeline.rs"));

/// Request in the state `S`, with its turn (A2).
#[must_use = "a request that is dropped goes no further"]
#[derive(Debug)]
pub struct Request<S> {
    pub(crate) gate: Gate,
    pub(crate) context: RequestContext,
    pub(crate) state: S,
}

impl<S> Request<S> {
    /// Moves the request to the next state.
    pub(crate) fn at<Next>(self, next: impl FnOnce(S) -> Next) -> Request<Next> {
        Request { gate: self.gate, context: self.context, state: next(self.state) }
    }

    /// Assigns the request to a client session, whose calls are counted together (R2). [`Gate::end_turn`] with the
    /// session's id forgets them.
    pub fn of_session(self, session: TurnId) -> Self {
        Self { context: self.context.of_session(session), ..self }
    }

    /// Makes the request part of a user's turn that has several requests with their own ids. Their failures and calls
    /// are counted together (R2), they make one call at a time, and their log entries have the turn as `user_turn`
    /// (A2). [`Gate::end_turn`] with its id forgets them.
    pub fn of_user_turn(self, user_turn: TurnId) -> Self {
        Self { context: self.context.of_user_turn(user_turn), ..self }
    }

    /// Assigns the request to an episode packet: later audit log entries have both ids. Unlike [`Gate::run`], this does
    /// not bind the request to a directive.
    pub fn of_packet(self, packet_id: PacketId, correlation_id: CorrelationId) -> Self {
        Self { context: self.context.of_packet(EpisodePacket { packet_id: Some(packet_id), correlation_id }), ..self }
    }

    /// Returns the turn of the request.
    #[must_use]
    pub fn turn(&self) -> &TurnId {
        self.context.id()
    }
}

impl Gate {
    /// Accepts a user's request (A2) without processing it yet.
    pub fn request(&self, turn: TurnId, query: impl Into<String>) -> Request<Received> {
        let query = query.into();
        let context = RequestContext::new(turn, None, self.audit_queue().clone())
            .owing(self.order())
            .with_request_data(user_inputs::query(&query))
            .querying(&query);
        Request { gate: self.clone(), context, state: Received { query } }
    }
}

/// Continuation of a request after its plan.
#[must_use = "a request that is dropped goes no further"]
#[derive(Debug)]
pub enum Way<Call = Request<Planned>, Ended = Request<Terminal>> {
    /// The request continues to a tool.
    Call(Call),
    /// The request ends with a question to the user; no tool is called (PG-T).
    Terminal(Ended),
}

impl<Call, Ended> Way<Call, Ended> {
    /// Returns the request that continues to a tool.
    ///
    /// # Errors
    /// The terminal request if the plan asks the user.
    pub fn call(self) -> Result<Call, Ended> {
        match self {
            Self::Call(request) => Ok(request),
            Self::Terminal(request) => Err(request),
        }
    }
}

impl Request<Screened> {
    /// Continues with a call that was read elsewhere, instead of a planner's text. If there is no call, the reason
    /// refuses the request.
    ///
    /// # Errors
    /// That reason, once it is recorded; A1 if it cannot be recorded.
    pub async fn with_call(self, call: Result<ToolCall, Blocked>) -> Result<Request<Planned>, Blocked> {
        let call = self.context.check(call).await?;
        Ok(self.planning(call))
    }

    pub(crate) fn planning(self, call: ToolCall) -> Request<Planned> {
        let Self { gate, context, .. } = self;
        let context = context.planning(call.tool(), gate.recorded(call.tool(), call.args(), None));
        Request { gate, context, state: Planned { call } }
    }
}

impl Request<Planned> {
    /// Returns the planned call, which may not be allowed.
    #[must_use]
    pub fn planned(&self) -> &ToolCall {
        &self.state.call
    }
}

impl Request<Authorized> {
    /// Returns the authorized call.
    #[must_use]
    pub fn authorized(&self) -> &Call {
        self.state.lease.call()
    }
}

impl Request<Dispatched> {
    /// Returns the raw answer. Its text comes from the tool, so show it with care.
    #[must_use]
    pub fn answer(&self) -> &Answer {
        &self.state.answer
    }

    /// Returns the tool that gave the answer.
    #[must_use]
    pub fn tool(&self) -> &ToolId {
        &self.state.tool
    }
}

impl<T> Request<Typed<T>> {
    /// Returns the deserialized answer.
    #[must_use]
    pub fn value(&self) -> &T {
        self.state.payload.value()
    }

    /// Returns the text that a summary must quote: the answer as canonical JSON (RFC 8785).
    #[must_use]
    pub fn source_text(&self) -> &str {
        self.state.payload.text()
    }
}

impl<T> Request<Grounded<T>> {
    /// Returns the deserialized answer.
    #[must_use]
    pub fn value(&self) -> &T {
        self.state.payload.value()
    }

    /// Returns the summary, whose bullets all quote the answer.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        self.state.summary.summary()
    }

    /// Splits the request into value and summary.
    #[must_use]
    pub fn into_value_and_summary(self) -> (T, Summary) {
        (self.state.payload.into_value(), self.state.summary.into_summary())
    }
}

impl Request<Terminal> {
    /// Returns the question to the user, which is not blank.
    #[must_use]
    pub fn answer(&self) -> &str {
        self.state.answer.answer()
    }
}

impl Request<Untyped> {
    /// Returns the raw answer.
    #[must_use]
    pub fn raw(&self) -> &Answer {
        self.state.raw.answer()
    }

    /// Returns the reason why the answer could not be typed, to accompany the raw answer.
    #[must_use]
    pub fn why(&self) -> &Blocked {
        self.state.raw.why()
    }
}
