//! What a request carries in each state. Nobody but the steps makes one of these.

use std::sync::Arc;

use crate::answer::output::{TypedAnswer, UntypedAnswer};
use crate::answer::summary::GroundedSummary;
use crate::base::ToolId;
use crate::call::Answer;
use crate::catalog::Listed;
use crate::grant::{Confirmed, Lease};
use crate::request::plan::{FinalAnswer, ToolCall};

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
