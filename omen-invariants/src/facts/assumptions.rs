//! Verification of a decision's load-bearing assumptions, as a type (INV-003).

use super::sealed::FactSealed;

/// Every load-bearing assumption is verified, or there are none (D30).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AllVerified;

/// At least one load-bearing assumption is unverified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SomeUnverified;

/// Layer 1 has overridden INV-003, regardless of the assumptions (D30).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overridden;

impl FactSealed for AllVerified {}
impl FactSealed for SomeUnverified {}
impl FactSealed for Overridden {}
