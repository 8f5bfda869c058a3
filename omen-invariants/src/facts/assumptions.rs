//! Whether the load-bearing assumptions of a decision are verified (INV-003).

use super::sealed::FactSealed;

/// Every load-bearing assumption is verified, or there is none (D30).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AllVerified;

/// At least one load-bearing assumption is not verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SomeUnverified;

/// Layer 1 has overridden INV-003, whether the assumptions are verified or not (D30).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overridden;

impl FactSealed for AllVerified {}
impl FactSealed for SomeUnverified {}
impl FactSealed for Overridden {}
