//! Keeps the traits of `facts` to its own types.

/// Implemented for the facts of this module alone.
#[diagnostic::on_unimplemented(
    message = "SCHEMA: `{Self}` is not a value of the schema",
    label = "not a type of the protocol",
    note = "use the markers of the schema's values, such as `Superb` or `impact::High`"
)]
pub trait FactSealed {}

/// Implemented for the markers of the schema's values alone. Its supertraits are stated here and not on each trait of a
/// value, so that an own implementation gets one error.
#[diagnostic::on_unimplemented(
    message = "SCHEMA: `{Self}` is not a value of the schema",
    label = "not a type of the protocol",
    note = "use the markers of the schema's values, such as `Superb` or `impact::High`"
)]
pub trait ValueSealed: Copy + Send + Sync + 'static {}
