//! Parameters of moves. Each is a sealed trait, because with a plain parameter type, the compile error for a mismatch
//! could not name the fix, for example when a ruling or a directive is given instead of an order, or a `Vec` instead of
//! an array. If a move also accepts the generated payload, the payload implements the trait.

use omen_invariants::facts::{AnyEnvelope, Envelope, Hypothesis, MayAsk, Observed};
use omen_types::{
    BeliefUpdatePayload, IntegrityAlertPayload, ObservationPayload, TaskDirectivePayload, Text,
    ToolAuthorizationPayload, VerificationPlanPayload,
};

use super::values::{
    ActOrder, Alarm, Alert, Answer, Belief, Clearance, Layer1Order, Observation, Order, Plan, ReadOnly, TokenSpec,
};

/// Prevents implementations of the traits in other crates.
mod sealed {
    /// Implemented only in this module.
    pub trait MoveSealed {}
}
use sealed::MoveSealed;

/// Parameter of a move: `V`, or its generated payload.
///
/// | Move | Takes `V` | and |
/// |---|---|---|
/// | `observe` | [`Observation`] | [`ObservationPayload`], which counts as OBSERVED |
/// | `answered` | [`Answer`] | [`ObservationPayload`] |
/// | `believe`, `review`, `remodel` | [`Belief`] | [`BeliefUpdatePayload`] |
/// | `verify` | [`Plan`] | [`VerificationPlanPayload`], without its assumptions |
/// | `authorize`, `authorize_named` | [`TokenSpec`] | [`ToolAuthorizationPayload`] |
/// | `alert` | [`Alert`] | [`IntegrityAlertPayload`] |
/// | `halt` | [`Alarm`] | [`Text`] and [`IntegrityAlertPayload`] |
///
/// A payload proves nothing. Where a move requires a proof, pass the payload to the proof:
/// [`Ruling::stating`](super::Ruling::stating) (INV-006), [`Plan::stating`], [`Pending::result`](super::Pending::result) (E6),
/// [`Layer1Order::stating`]. `execute` accepts the payload of a directive that reads; a directive that may write spends a
/// permit ([`Directive::stating`](super::Directive::stating), E4).
#[diagnostic::on_unimplemented(
    message = "SCHEMA: expected a `{V}` or its generated payload, found `{Self}`",
    label = "expected a `{V}`",
    note = "make a `{V}` with one of its constructors, or its payload with the generated builder, such as `BeliefUpdatePayload::builder()` for a `Belief`",
    note = "to send a payload with a ruling or an order of layer 1, call its method `stating`; with a task, `result`"
)]
pub trait Says<V>: MoveSealed {
    /// Returns the value.
    fn said(self) -> V;
}

macro_rules! says {
    ($($value:ty: $($from:ty),*;)*) => {
        $(
            impl MoveSealed for $value {}

            #[diagnostic::do_not_recommend]
            impl Says<$value> for $value {
                fn said(self) -> $value {
                    self
                }
            }

            $(
                #[diagnostic::do_not_recommend]
                impl Says<$value> for $from {
                    fn said(self) -> $value {
                        self.into()
                    }
                }
            )*
        )*
    };
}
says! {
    Answer: ObservationPayload;
    Belief: BeliefUpdatePayload;
    Plan: VerificationPlanPayload;
    TokenSpec: ToolAuthorizationPayload;
    Alert: IntegrityAlertPayload;
    Alarm: IntegrityAlertPayload, Text;
}

impl<St> MoveSealed for Observation<St> {}

#[diagnostic::do_not_recommend]
impl<St> Says<Observation<St>> for Observation<St> {
    fn said(self) -> Self {
        self
    }
}

#[diagnostic::do_not_recommend]
impl Says<Observation<Observed>> for ObservationPayload {
    fn said(self) -> Observation<Observed> {
        self.into()
    }
}

impl MoveSealed for ObservationPayload {}
impl MoveSealed for BeliefUpdatePayload {}
impl MoveSealed for VerificationPlanPayload {}
impl MoveSealed for ToolAuthorizationPayload {}
impl MoveSealed for IntegrityAlertPayload {}
impl MoveSealed for TaskDirectivePayload {}
impl MoveSealed for Text {}
impl MoveSealed for Layer1Order {}

/// Value that ends safe mode: a [`Layer1Order`], or the [`Clearance`] that [`Layer1Order::stating`] creates from an
/// order and a payload.
#[diagnostic::on_unimplemented(
    message = "E7: expected an order of layer 1, which alone ends safe mode, found `{Self}`",
    label = "expected a `Layer1Order`",
    note = "make an order with `layer1.order(reason)`; `order.stating(payload)` sends a generated payload with it"
)]
pub trait EndsSafeMode: MoveSealed {
    /// Returns the alert of severity CLEAR.
    fn into_clearance(self) -> Clearance;
}

impl MoveSealed for Clearance {}

#[diagnostic::do_not_recommend]
impl EndsSafeMode for Clearance {
    fn into_clearance(self) -> Self {
        self
    }
}

#[diagnostic::do_not_recommend]
impl EndsSafeMode for Layer1Order {
    fn into_clearance(self) -> Clearance {
        self.into()
    }
}

/// Order to act: an [`ActOrder`].
#[diagnostic::on_unimplemented(
    message = "INV-006: expected an order to act, found `{Self}`",
    label = "expected an `ActOrder`",
    note = "make an order of a ruling with `ruling.to_act()`; add its assumptions with `.relies_on(..)` and `.assumes(..)`",
    note = "a `DecisionPayload` does not prove that an arbitration ran; send it with a ruling: `ruling.stating(payload).to_act()`"
)]
pub trait IntoActOrder<A>: MoveSealed {
    /// Returns the order.
    fn into_act_order(self) -> ActOrder<A>;
}

impl<A> MoveSealed for ActOrder<A> {}

#[diagnostic::do_not_recommend]
impl<A> IntoActOrder<A> for ActOrder<A> {
    fn into_act_order(self) -> Self {
        self
    }
}

/// Envelope whose stakes level `L`, quality tier `Q` and tools state `T` are known at compile time: an [`Envelope`].
#[diagnostic::on_unimplemented(
    message = "INV-001 (INV-003): expected an `Envelope`, whose facts are known at compile time",
    label = "not an `Envelope`",
    note = "make an `Envelope` of an `OpenEnvelope` literal with `mcp.seal()`",
    note = "judge a `DynEnvelope`, whose facts are known at run time, with `envelope.judge_act(..)`; or decide with `episode.decide(outcome, order, &envelope)`"
)]
pub trait KnownEnvelope<L, Q, T>: AnyEnvelope {}

#[diagnostic::do_not_recommend]
impl<L, Q, T> KnownEnvelope<L, Q, T> for Envelope<L, Q, T> {}

/// Envelope for a decision that seeks certainty, with facts known at compile time: an [`Envelope`], or a
/// [`Hypothesis`], whose claims have no evidence yet (D31).
#[diagnostic::on_unimplemented(
    message = "INV-001 (INV-010): expected an `Envelope` or a `Hypothesis`, whose facts are known at compile time",
    label = "neither an `Envelope` nor a `Hypothesis`",
    note = "make an `Envelope` of an `OpenEnvelope` literal with `mcp.seal()`, a `Hypothesis` with `mcp.hypothesis()`",
    note = "with a `DynEnvelope`, whose facts are known at run time, decide with `episode.decide(outcome, order, &envelope)`"
)]
pub trait AskingEnvelope<L, Q, T>: MayAsk {}

#[diagnostic::do_not_recommend]
impl<L, Q, T> AskingEnvelope<L, Q, T> for Envelope<L, Q, T> {}

#[diagnostic::do_not_recommend]
impl<L, Q, T> AskingEnvelope<L, Q, T> for Hypothesis<L, Q, T> {}

/// One order: an [`Order`].
#[diagnostic::on_unimplemented(
    message = "E4: expected one order, found `{Self}`",
    label = "expected an `Order`",
    note = "make an order with `directive.ready()` if the directive reads, or with `directive.with(permit)` if it writes"
)]
pub trait IntoOrder<C>: MoveSealed {
    /// Returns the order.
    fn into_order(self) -> Order<C>;
}

impl<C> MoveSealed for Order<C> {}

#[diagnostic::do_not_recommend]
impl<C> IntoOrder<C> for Order<C> {
    fn into_order(self) -> Self {
        self
    }
}

/// Payload of a directive that reads. If the directive may write, it is refused when it is sent (E4).
#[diagnostic::do_not_recommend]
impl IntoOrder<ReadOnly> for TaskDirectivePayload {
    fn into_order(self) -> Order<ReadOnly> {
        self.into()
    }
}

/// Orders that are sent in one move: an array of [`Order`].
#[diagnostic::on_unimplemented(
    message = "E4: expected an array of orders, found `{Self}`",
    label = "expected an array of `Order`",
    note = "make an order with `directive.ready()` if the directive reads, or with `directive.with(permit)` if it writes",
    note = "write `[order]`; to send a number of orders that is known only at run time, send them one by one in a loop"
)]
pub trait IntoOrders<C, const N: usize>: MoveSealed {
    /// Returns the orders.
    fn into_orders(self) -> [Order<C>; N];
}

impl<C, const N: usize> MoveSealed for [Order<C>; N] {}

#[diagnostic::do_not_recommend]
impl<C, const N: usize> IntoOrders<C, N> for [Order<C>; N] {
    fn into_orders(self) -> Self {
        self
    }
}

impl<const N: usize> MoveSealed for [TaskDirectivePayload; N] {}

/// Payloads of directives that read. If a directive may write, it is refused when it is sent (E4).
#[diagnostic::do_not_recommend]
impl<const N: usize> IntoOrders<ReadOnly, N> for [TaskDirectivePayload; N] {
    fn into_orders(self) -> [Order<ReadOnly>; N] {
        self.map(Order::from)
    }
}
