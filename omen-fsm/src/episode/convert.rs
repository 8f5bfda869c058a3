//! What moves accept. Each is a trait that just one type implements, for a plain parameter could not say what to write
//! where something close to it was given: a ruling for an order, a directive for an order, a `Vec` for an array.

use omen_invariants::facts::{AnyEnvelope, Envelope, Hypothesis, MayAsk};

use super::values::{ActOrder, Order};

/// Keeps other crates from implementing them.
mod sealed {
    /// Implemented here alone.
    pub trait MoveSealed {}
}
use sealed::MoveSealed;

/// An order to act: an [`ActOrder`].
#[diagnostic::on_unimplemented(
    message = "INV-006: a decision to act needs an order, found `{Self}`",
    label = "expected an `ActOrder`",
    note = "`ruling.to_act()` makes an order of a ruling; `.relies_on(..)` and `.assumes(..)` add what it rests on"
)]
pub trait IntoActOrder<A>: MoveSealed {
    /// The order.
    fn into_act_order(self) -> ActOrder<A>;
}

impl<A> MoveSealed for ActOrder<A> {}

#[diagnostic::do_not_recommend]
impl<A> IntoActOrder<A> for ActOrder<A> {
    fn into_act_order(self) -> Self {
        self
    }
}

/// An envelope whose level of stakes `L`, quality tier `Q` and state of tools `T` the compiler knows: an [`Envelope`].
#[diagnostic::on_unimplemented(
    message = "INV-001 (INV-003): this decision needs an `Envelope`, whose facts the compiler knows",
    label = "not an `Envelope`",
    note = "`mcp.seal()` makes an `Envelope` of an `Mcp` literal",
    note = "a `DynEnvelope`, whose facts are known at run time, is judged first: `envelope.judge_act(..)`; or decide with `episode.decide(outcome, order, &envelope)`"
)]
pub trait KnownEnvelope<L, Q, T>: AnyEnvelope {}

#[diagnostic::do_not_recommend]
impl<L, Q, T> KnownEnvelope<L, Q, T> for Envelope<L, Q, T> {}

/// An envelope in which a decision may ask for certainty, and whose facts the compiler knows: an [`Envelope`], or a
/// [`Hypothesis`], whose claims nobody has looked into yet (D31).
#[diagnostic::on_unimplemented(
    message = "INV-001 (INV-010): this decision needs an `Envelope` or a `Hypothesis`, whose facts the compiler knows",
    label = "neither an `Envelope` nor a `Hypothesis`",
    note = "`mcp.seal()` makes an `Envelope` of an `Mcp` literal, `mcp.hypothesis()` a `Hypothesis`",
    note = "with a `DynEnvelope`, whose facts are known at run time, decide with `episode.decide(outcome, order, &envelope)`"
)]
pub trait AskingEnvelope<L, Q, T>: MayAsk {}

#[diagnostic::do_not_recommend]
impl<L, Q, T> AskingEnvelope<L, Q, T> for Envelope<L, Q, T> {}

#[diagnostic::do_not_recommend]
impl<L, Q, T> AskingEnvelope<L, Q, T> for Hypothesis<L, Q, T> {}

/// One order: an [`Order`].
#[diagnostic::on_unimplemented(
    message = "E4: this move takes one order, found `{Self}`",
    label = "expected an `Order`",
    note = "`directive.ready()` makes an order of a directive that reads, `directive.with(permit)` of one that writes"
)]
pub trait IntoOrder<C>: MoveSealed {
    /// The order.
    fn into_order(self) -> Order<C>;
}

impl<C> MoveSealed for Order<C> {}

#[diagnostic::do_not_recommend]
impl<C> IntoOrder<C> for Order<C> {
    fn into_order(self) -> Self {
        self
    }
}

/// Orders that are sent in one step: an array of [`Order`].
#[diagnostic::on_unimplemented(
    message = "E4: this move takes an array of orders, found `{Self}`",
    label = "expected an array of `Order`",
    note = "`directive.ready()` makes an order of a directive that reads, `directive.with(permit)` of one that writes",
    note = "write `[order]`; send orders whose number is known at run time one by one, in a loop"
)]
pub trait IntoOrders<C, const N: usize>: MoveSealed {
    /// The orders.
    fn into_orders(self) -> [Order<C>; N];
}

impl<C, const N: usize> MoveSealed for [Order<C>; N] {}

#[diagnostic::do_not_recommend]
impl<C, const N: usize> IntoOrders<C, N> for [Order<C>; N] {
    fn into_orders(self) -> Self {
        self
    }
}
