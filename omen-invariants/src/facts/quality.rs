//! How good the work has to be, and when it is done.

use std::marker::PhantomData;

use omen_types::{DefinitionOfDone, Text, VerificationRequirement};

use super::markers::{AtLeastOneCheck, Par, QualityTierFact, Subpar, Superb};

/// When work is done: in words, and as checks, of which there is at least one (INV-001).
#[derive(Clone, Debug)]
#[must_use = "pass it to `OpenEnvelope::low(..)` and the other levels"]
pub struct Done {
    text: Text,
    checks: Vec<String>,
}

impl Done {
    /// When what the text says is so, and the checks hold.
    pub fn when<const N: usize>(text: Text, checks: [&str; N]) -> Self
    where
        [(); N]: AtLeastOneCheck,
    {
        Self { text, checks: checks.into_iter().map(str::to_owned).collect() }
    }
}

/// How good the work has to be, and when it is done. The tier is a type: [`Subpar`], [`Par`] or
/// [`Superb`].
#[derive(Clone, Debug)]
pub struct Quality<Tier> {
    done: DefinitionOfDone,
    satisficing: bool,
    verification: VerificationRequirement,
    tier: PhantomData<fn() -> Tier>,
}

impl Quality<Subpar> {
    /// Speculative work, which can never authorize an action (INV-002). No assumption has to be verified.
    #[must_use]
    pub fn subpar<const N: usize>(done: Text, checks: [&str; N]) -> Self
    where
        [(); N]: AtLeastOneCheck,
    {
        Self::new(Done::when(done, checks), VerificationRequirement::Optional)
    }
}

impl Quality<Par> {
    /// Work done with ordinary care; at least one load-bearing assumption is to be verified.
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
    /// Work done with the highest care, as it takes to act at high or critical stakes (INV-003). Every
    /// load-bearing assumption is to be verified.
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

    /// Speed goes before completeness.
    #[must_use]
    pub fn satisficing(self) -> Self {
        Self { satisficing: true, ..self }
    }

    /// Another share of the load-bearing assumptions has to be verified than the tier has by default.
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
