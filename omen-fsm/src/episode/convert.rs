//! What moves accept. Each is a sealed trait, for a plain parameter could not say what to write where something close to it
//! was given: a ruling for an order, a directive for an order, a `Vec` for an array. Where a generated payload is taken
//! beside the value that the typed API has for it, the trait says so.

use omen_invariants::facts::{AnyEnvelope, Envelope, Hypothesis, MayAsk, Observed};
use omen_types::{
    BeliefUpdatePayload, IntegrityAlertPayload, ObservationPayload, TaskDirectivePayload, Text,
    ToolAuthorizationPayload, VerificationPlanPayload,
};

use super::values::{
    ActOrder, Alarm, Alert, Answer, Belief, Clearance, Layer1Order, Observation, Order, Plan, ReadOnly, TokenSpec,
};

/// Keeps other crates from implementing them.
mod sealed {
    /// Implemented here alone.
    pub trait MoveSealed {}
}
use sealed::MoveSealed;

/// What a move takes: `V`, or the payload that the schemas generate for it.
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
/// A payload is no proof. Where a move asks for one, the proof says in the payload's words what it proves:
/// [`Ruling::stating`](super::Ruling::stating) (INV-006), [`Plan::stating`], [`Pending::result`](super::Pending::result)
/// (E6), [`Layer1Order::stating`]. `execute` takes a directive's payload that reads; one that may write spends a permit
/// ([`NamedDirective::stating`](super::NamedDirective::stating), E4).
#[diagnostic::on_unimplemented(
    message = "SCHEMA: this move takes a `{V}` or its generated payload, found `{Self}`",
    label = "expected a `{V}`",
    note = "a `{V}` has constructors of its own; the payload is what the schema's builder gives, as `BeliefUpdatePayload::builder()` for a `Belief`",
    note = "a ruling, a task or an order of layer 1 takes a payload with its method `stating` or `result`"
)]
pub trait Says<V>: MoveSealed {
    /// What the move takes.
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

/// What ends safe mode: a [`Layer1Order`], or the [`Clearance`] that [`Layer1Order::stating`] makes of one and a payload.
#[diagnostic::on_unimplemented(
    message = "E7: only an order of layer 1 ends safe mode, found `{Self}`",
    label = "expected a `Layer1Order`",
    note = "`layer1.order(reason)` gives one, `order.stating(payload)` says it in the words of a generated payload"
)]
pub trait EndsSafeMode: MoveSealed {
    /// The alert of severity CLEAR.
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

/// An order to act: an [`ActOrder`].
#[diagnostic::on_unimplemented(
    message = "INV-006: a decision to act needs an order, found `{Self}`",
    label = "expected an `ActOrder`",
    note = "`ruling.to_act()` makes an order of a ruling; `.relies_on(..)` and `.assumes(..)` add what it rests on",
    note = "a `DecisionPayload` proves no arbitration: `ruling.stating(payload).to_act()` decides in its words"
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
    note = "`mcp.seal()` makes an `Envelope` of an `OpenEnvelope` literal",
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
    note = "`mcp.seal()` makes an `Envelope` of an `OpenEnvelope` literal, `mcp.hypothesis()` a `Hypothesis`",
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

/// A directive's payload that reads; one that may write is refused when it is sent (E4).
#[diagnostic::do_not_recommend]
impl IntoOrder<ReadOnly> for TaskDirectivePayload {
    fn into_order(self) -> Order<ReadOnly> {
        self.into()
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

impl<const N: usize> MoveSealed for [TaskDirectivePayload; N] {}

/// Payloads of directives that read; one that may write is refused when it is sent (E4).
#[diagnostic::do_not_recommend]
impl<const N: usize> IntoOrders<ReadOnly, N> for [TaskDirectivePayload; N] {
    fn into_orders(self) -> [Order<ReadOnly>; N] {
        self.map(Order::from)
    }
}
