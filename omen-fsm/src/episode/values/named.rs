//! Directives to tools that are named at run time.
//!
//! The compiler checks a scope made of types; the machine checks a named scope when the directive is sent.

use omen_types::{TaskDirectivePayload, Text, ToolSafetyClass};

use super::super::tag::Tag;
use super::Fields;
use super::directive::{Directive, Order, OrderDraft, ReadOnly, ReadWrite};
use super::token::Permit;

/// Classification of a directive by whether it needs a permit. A `match` must handle both cases.
#[must_use = "it holds the directive"]
#[derive(Debug)]
pub enum Sorted {
    /// The directive reads: the order can be sent.
    Reads(Order<ReadOnly>),
    /// The directive may write: attach a permit with `.with(permit)`.
    Writes(Unauthorized),
}

/// Directive that may write but has no permit yet.
#[must_use = "attach a permit: `.with(permit)`"]
#[derive(Debug)]
pub struct Unauthorized(Directive);

impl Directive {
    /// Creates a call of a tool from its id and its safety class (D23). If its parameters have an `operation`, the
    /// token must allow that operation (D26).
    ///
    /// ```
    /// use omen_fsm::episode::{Directive, Sorted};
    /// use omen_invariants::text;
    /// use omen_types::ToolSafetyClass;
    ///
    /// let directive = Directive::named(text!("config.get"), ToolSafetyClass::Read, None);
    /// assert!(matches!(directive.sort(), Sorted::Reads(_)));
    /// ```
    pub fn named(tool_id: Text, class: ToolSafetyClass, params: Option<Fields>) -> Self {
        Self::call(tool_id, class, params)
    }

    /// Creates a directive from a generated payload. A directive that may write gets its token from the permit that it
    /// spends; if the payload names another token, the directive is refused when it is sent.
    pub fn stating(payload: TaskDirectivePayload) -> Self {
        Self::from_draft(OrderDraft::stating(payload))
    }

    /// Classifies the directive by whether it needs a permit.
    pub fn sort(self) -> Sorted {
        if self.draft.needs_token() {
            Sorted::Writes(Unauthorized(self))
        } else {
            Sorted::Reads(Order::from_draft(*self.draft, None))
        }
    }
}

impl From<TaskDirectivePayload> for Directive {
    fn from(payload: TaskDirectivePayload) -> Self {
        Self::stating(payload)
    }
}

impl Unauthorized {
    /// Attaches a permit, which is one use of a token. Whether its scope covers the tool is checked when the order is
    /// sent; a refused order is returned.
    pub fn with<Sc>(self, permit: Permit<Sc>) -> Order<ReadWrite> {
        let mut draft = *self.0.draft;
        // If the payload names a token other than the permit's, the tag belongs to no episode, so the order is refused.
        let is_other = draft.authorization_token_id.as_ref().is_some_and(|named| *named != permit.token_id);
        let episode = if is_other { Tag::default() } else { permit.episode };
        draft.authorization_token_id = Some(permit.token_id);
        Order::from_draft(draft, Some(episode))
    }
}
