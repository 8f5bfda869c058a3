//! What a request carries in each state. Nobody but the steps makes one of these.

use std::sync::Arc;

use crate::answer::Summary;
use crate::answer::output::{TypedAnswer, UntypedAnswer};
use crate::answer::summary::GroundedSummary;
use crate::base::{Blocked, ToolId, TurnId};
use crate::call::{Answer, Call};
use crate::catalog::Listed;
use crate::grant::{Confirmed, Lease};
use crate::request::context::RequestContext;
use crate::request::gate::Gate;
use crate::request::plan::{FinalAnswer, ToolCall};

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

    /// The turn.
    #[must_use]
    pub fn turn(&self) -> &TurnId {
        self.context.id()
    }
}

/// Nothing has been checked.
#[derive(Debug)]
pub struct Received {
    pub(crate) query: String,
}

/// The query may be worked on.
#[derive(Debug)]
pub struct Screened {
    pub(crate) _seal: (),
}

/// A tool is to be called.
#[derive(Debug)]
pub struct Planned {
    pub(crate) call: ToolCall,
}

/// The tool is there, and the arguments fit it.
#[derive(Debug)]
pub struct Conformant {
    pub(crate) call: ToolCall,
    pub(crate) listed: Arc<Listed>,
}

/// The call may be made, once, and now.
#[derive(Debug)]
pub struct Authorized {
    pub(crate) lease: Lease,
    pub(crate) confirmed: Option<Confirmed>,
    pub(crate) listed: Arc<Listed>,
}

/// The tool has answered.
#[derive(Debug)]
pub struct Dispatched {
    pub(crate) tool: ToolId,
    pub(crate) listed: Arc<Listed>,
    pub(crate) answer: Answer,
}

/// The answer is a `T`.
#[derive(Debug)]
pub struct Typed<T> {
    pub(crate) payload: TypedAnswer<T>,
}

/// The summary quotes the answer.
#[derive(Debug)]
pub struct Grounded<T> {
    pub(crate) payload: TypedAnswer<T>,
    pub(crate) summary: GroundedSummary,
}

/// The user is asked for more (PG-T).
#[derive(Debug)]
pub struct Terminal {
    pub(crate) answer: FinalAnswer,
}

/// The answer could not be typed (PG-4).
#[derive(Debug)]
pub struct Untyped {
    pub(crate) raw: Box<UntypedAnswer>,
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
    pub fn into_parts(self) -> (T, Summary) {
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
