//! Required quality of the work, and completion criteria.

use std::marker::PhantomData;

use omen_types::{DefinitionOfDone, Text, VerificationRequirement};

use super::markers::{AtLeastOneCheck, Par, QualityTierFact, Subpar, Superb};

/// Completion criteria: a text and at least one check (INV-001).
#[derive(Clone, Debug)]
#[must_use = "pass it to `OpenEnvelope::low(..)` and the other levels"]
pub struct Done {
    text: Text,
    checks: Vec<String>,
}

impl Done {
    /// Creates completion criteria from a text and checks, all of which must be met.
    pub fn when<const N: usize>(text: Text, checks: [&str; N]) -> Self
    where
        [(); N]: AtLeastOneCheck,
    {
        Self { text, checks: checks.into_iter().map(str::to_owned).collect() }
    }
}

/// Required quality of the work, and completion criteria. The tier is a type: [`Subpar`], [`Par`] or [`Superb`].
#[derive(Clone, Debug)]
pub struct Quality<Tier> {
    done: DefinitionOfDone,
    satisficing: bool,
    verification: VerificationRequirement,
    tier: PhantomData<fn() -> Tier>,
}

impl Quality<Subpar> {
    /// Describes speculative work, which can never authorize an action (INV-002). No assumption needs to be verified.
    #[must_use]
    pub fn subpar<const N: usize>(done: Text, checks: [&str; N]) -> Self
    where
        [(); N]: AtLeastOneCheck,
    {
        Self::new(Done::when(done, checks), VerificationRequirement::Optional)
    }
}

impl Quality<Par> {
    /// Describes work of ordinary care; at least one load-bearing assumption must be verified.
    #[must_use]
    pub fn par<const N: usize>(done: Text, checks: [&str; N]) -> Self
    where
        [(); N]: AtLeastOneCheck,
    {
        Self::par_when(Done::when(done, checks))
    }

    pub(super) fn par_when(done: Done) -> Self {
        Self::new(done, VerificationRequirement::VerifyOne)
    }
}

impl Quality<Superb> {
    /// Describes work of the highest care, which acting at high or critical stakes requires (INV-003). Every
    /// load-bearing assumption must be verified.
    #[must_use]
    pub fn superb<const N: usize>(done: Text, checks: [&str; N]) -> Self
    where
        [(); N]: AtLeastOneCheck,
    {
        Self::superb_when(Done::when(done, checks))
    }

    pub(super) fn superb_when(done: Done) -> Self {
        Self::new(done, VerificationRequirement::VerifyAll)
    }
}

impl<Tier> Quality<Tier> {
    fn new(done: Done, verification: VerificationRequirement) -> Self {
        let done = DefinitionOfDone::builder().text(done.text).checks(done.checks).unchecked();
        Self { done, satisficing: false, verification, tier: PhantomData }
    }

    /// Puts speed before completeness.
    #[must_use]
    pub fn satisficing(self) -> Self {
        Self { satisficing: true, ..self }
    }

    /// Sets the share of load-bearing assumptions to verify, if it differs from the tier's default.
    #[must_use]
    pub fn verification(self, verification: VerificationRequirement) -> Self {
        Self { verification, ..self }
    }

    pub(super) fn sealed(self) -> omen_types::Quality
    where
        Tier: QualityTierFact,
    {
        omen_types::Quality::builder()
            .quality_tier(Tier::VALUE)
            .satisficing_mode(self.satisficing)
            .definition_of_done(self.done)
            .verification_requirement(self.verification)
            .build()
    }
}
