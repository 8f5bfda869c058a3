/// `INV-001`, no note without a pen.
///
/// A note needs a pen.
///
/// Source: common sense.
#[diagnostic::on_unimplemented(
    message = "INV-001: `{Self}` has no pen",
    label = "here",
    note = "fetch a pen"
)]
pub trait MayWrite: sealed::FactSealed {}

/// `INV-001`, no note without a pen.
///
/// A note needs a pen.
///
/// Source: common sense.
#[diagnostic::on_unimplemented(
    message = "INV-001: `{Self}` does not fit `{Pen}`",
    label = "here",
    note = "fetch a pen"
)]
pub trait Fits<Pen>: Sized {
    #[doc(hidden)]
    type Proof: pen::Fitted<Self, Pen>;
}

/// `INV-001`, no note without a pen.
///
/// A note needs a pen.
///
/// Source: common sense.
#[diagnostic::on_unimplemented(
    message = "INV-001: `{Self}` blots `{Paper}`",
    label = "here",
    note = "fetch a pen"
)]
pub trait Blots<Ink, Paper>: sealed::FactSealed {}
