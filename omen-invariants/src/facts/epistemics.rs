//! How the content of a packet is known.

use std::marker::PhantomData;

use omen_types::{Text, UnitInterval};

use super::markers::{EpistemicStatusFact, FreshnessClassFact};
use super::sealed::FactSealed;

/// How the content of a packet is known, how surely, and how soon it goes stale.
#[derive(Clone, Debug)]
pub struct Epistemics<Status, Freshness> {
    /// How it is known, such as [`Observed`](super::Observed).
    pub status: Status,
    /// How soon it goes stale, such as [`Realtime`](super::Realtime).
    pub freshness: Freshness,
    /// Calibrated confidence, from 0 (none) to 1 (certain).
    pub confidence: UnitInterval,
    /// Why the confidence is what it is.
    pub calibration: Text,
    /// The assumptions; there may be none.
    pub assumptions: Vec<String>,
    /// Age in seconds beyond which evidence is stale (INV-004, D31); no limit, if there is none.
    pub stale_after: Option<u32>,
}

impl<Status, Freshness> Epistemics<Status, Freshness> {
    /// With no assumption and no limit on the age of evidence.
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

    /// Evidence older than so many seconds is stale (INV-004, D31).
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

/// Epistemic status, freshness class and best evidence of an envelope: what INV-004 checks.
#[derive(Debug)]
pub struct Claim<Status, Freshness, Best>(PhantomData<Facts<Status, Freshness, Best>>);

type Facts<Status, Freshness, Best> = fn() -> (Status, Freshness, Best);

impl<Status, Freshness, Best> FactSealed for Claim<Status, Freshness, Best> {}
