//! Data of a request in each state. Only the steps create these values.

use std::sync::Arc;

use crate::answer::output::{TypedAnswer, UntypedAnswer};
use crate::answer::summary::GroundedSummary;
use crate::base::ToolId;
use crate::call::{Answer, ToolCall};
use crate::catalog::Listed;
use crate::grant::{Confirmed, Lease};
use crate::request::order::OrderedCall;
use crate::request::plan::FinalAnswer;
use omen_audit::DeferredEntry;

/// State of a request that has not been checked.
#[derive(Debug)]
pub struct Received {
    pub(crate) query: String,
}

/// State of a request whose query passed screening.
#[derive(Debug)]
pub struct Screened {
    pub(crate) _seal: (),
}

/// State of a request with a planned tool call.
#[derive(Debug)]
pub struct Planned {
    pub(crate) call: ToolCall,
}

/// State of a request whose tool exists and whose arguments match its schema.
#[derive(Debug)]
pub struct Conformant {
    pub(crate) call: ToolCall,
    pub(crate) listed: Arc<Listed>,
}

/// State of a request whose call may be made now, once. The audit entry of the decision is written with that of the intent,
/// or when this value is dropped, unless somebody was asked to confirm the call or a grant counts its uses.
#[derive(Debug)]
pub struct Authorized {
    pub(crate) lease: Lease,
    /// The entry of the decision, if it is written with the intent.
    pub(crate) decision: Option<DeferredEntry>,
    pub(crate) confirmed: Option<Confirmed>,
    pub(crate) listed: Arc<Listed>,
    pub(crate) order: OrderedCall,
}

/// State of a request whose tool has answered.
#[derive(Debug)]
pub struct Dispatched {
    pub(crate) tool: ToolId,
    pub(crate) listed: Arc<Listed>,
    pub(crate) answer: Answer,
}

/// State of a request whose answer is a `T`.
#[derive(Debug)]
pub struct Typed<T> {
    pub(crate) payload: TypedAnswer<T>,
}

/// State of a request whose summary quotes the answer.
#[derive(Debug)]
pub struct Grounded<T> {
    pub(crate) payload: TypedAnswer<T>,
    pub(crate) summary: GroundedSummary,
}

/// State of a request that ends with a question to the user (PG-T).
#[derive(Debug)]
pub struct Terminal {
    pub(crate) answer: FinalAnswer,
}

/// State of a request whose answer could not be typed (PG-4).
#[derive(Debug)]
pub struct Untyped {
    pub(crate) raw: Box<UntypedAnswer>,
}
