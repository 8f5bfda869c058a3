//! Epistemics of a packet's content.

use std::marker::PhantomData;

use omen_types::{Text, UnitInterval};

use super::markers::{EpistemicStatusFact, FreshnessClassFact};
use super::sealed::FactSealed;

/// Epistemics of a packet's content: status, confidence and freshness.
#[derive(Clone, Debug)]
pub struct Epistemics<Status, Freshness> {
    /// Epistemic status, such as [`Observed`](super::Observed).
    pub status: Status,
    /// Freshness class, such as [`Realtime`](super::Realtime).
    pub freshness: Freshness,
    /// Calibrated confidence, from 0 (none) to 1 (certain).
    pub confidence: UnitInterval,
    /// Justification of the confidence.
    pub calibration: Text,
    /// Assumptions; may be empty.
    pub assumptions: Vec<String>,
    /// Maximum age of evidence, in seconds (INV-004, D31); `None` for no limit.
    pub stale_after: Option<u32>,
}

impl<Status, Freshness> Epistemics<Status, Freshness> {
    /// Creates epistemics without assumptions and without a limit on the age of evidence.
    #[must_use]
    pub fn new(status: Status, freshness: Freshness, confidence: UnitInterval, calibration: Text) -> Self {
        Self { status, freshness, confidence, calibration, assumptions: Vec::new(), stale_after: None }
    }

    /// Adds an assumption.
    #[must_use]
    pub fn assuming(mut self, assumption: impl Into<String>) -> Self {
        self.assumptions.push(assumption.into());
        self
    }

    /// Sets the maximum age of evidence, in seconds (INV-004, D31).
    #[must_use]
    pub fn stale_after(self, seconds: u32) -> Self {
        Self { stale_after: Some(seconds), ..self }
    }

    pub(super) fn sealed(self) -> omen_types::Epistemics
    where
        Status: EpistemicStatusFact,
        Freshness: FreshnessClassFact,
    {
        omen_types::Epistemics::builder()
            .status(Status::VALUE)
            .confidence(self.confidence)
            .calibration_note(self.calibration)
            .freshness_class(Freshness::VALUE)
            .maybe_stale_if_older_than_seconds(self.stale_after.map(Into::into))
            .assumptions(self.assumptions)
            .build()
    }
}

/// Epistemic status, freshness class and best evidence of an envelope, which INV-004 checks.
#[derive(Debug)]
pub struct Claim<Status, Freshness, Best>(PhantomData<ClaimFacts<Status, Freshness, Best>>);

type ClaimFacts<Status, Freshness, Best> = fn() -> (Status, Freshness, Best);

impl<Status, Freshness, Best> FactSealed for Claim<Status, Freshness, Best> {}
