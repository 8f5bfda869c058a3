//! Sealed base traits of `facts`.

/// Implemented only for the facts of this module.
#[diagnostic::on_unimplemented(
    message = "SCHEMA: `{Self}` is not a value of the schema",
    label = "not a type of the protocol",
    note = "use the markers of the schema's values, such as `Superb` or `impact::High`"
)]
pub trait FactSealed {}

/// Implemented only for the markers of the schema's values. Its supertraits are stated here instead of on each trait of
/// values, so that a foreign implementation causes a single error.
#[diagnostic::on_unimplemented(
    message = "SCHEMA: `{Self}` is not a value of the schema",
    label = "not a type of the protocol",
    note = "use the markers of the schema's values, such as `Superb` or `impact::High`"
)]
pub trait ValueSealed: Copy + Send + Sync + 'static {}
