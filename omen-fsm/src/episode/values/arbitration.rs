//! Arbitration: veto, then feasibility, then tradeoff (INV-006).
//!
//! The types enforce the order: each stage is a method on the result of the previous stage. Whether an option survives
//! a stage is known only at run time.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use omen_invariants::facts::{AllVerified, Overridden, SomeUnverified};
use omen_invariants::rules::inv_003_high_stakes_verified::OVERRIDE;
use omen_types::{
    ChosenOption, Code, ConstraintsSatisfied, DecisionOutcome, DecisionPayload, Diagnostic, FailureMode, LayerNumber,
    LayerSource, LoadBearingAssumption, RejectedAlternative, Text,
};

use super::super::draft::Draft;
use super::super::errors::Refusal;
use super::super::tag::Tag;
use super::super::{FeasibleHere, ToActHere, TradeoffHere};
use super::{DecisionPayloadExtras, Layer1Order, Verified};

/// Stage of options that were proposed but not checked yet.
#[derive(Debug)]
pub enum Proposed {}
/// Stage after options that the constitution forbids were rejected.
#[derive(Debug)]
pub enum Vetted {}
/// Stage after options that are not feasible were rejected as well.
#[derive(Debug)]
pub enum Feasible {}

/// Option in an arbitration.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Id of the option.
    pub id: String,
    /// Description of the option.
    pub description: Option<String>,
}

impl<T: Into<String>> From<T> for Candidate {
    fn from(id: T) -> Self {
        Self { id: id.into(), description: None }
    }
}

/// Arbitration between options, at a stage.
#[must_use = "an arbitration ends with `.tradeoff(..)`"]
#[derive(Debug)]
pub struct Arbitration<Stage> {
    options: Vec<Candidate>,
    rejected: Vec<RejectedAlternative>,
    stage: PhantomData<fn(Stage) -> Stage>,
}

/// Arbitration in which a stage rejected every option: proof that the stages up to it ran. It permits one ruling.
#[derive(Debug)]
pub struct NothingLeft {
    stage: &'static str,
    rejected: Vec<RejectedAlternative>,
}

impl fmt::Display for NothingLeft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "INV-006: no option left after the {}; escalate, defer or cancel", self.stage)
    }
}

impl std::error::Error for NothingLeft {}

impl NothingLeft {
    /// Returns the name of the stage that rejected every option.
    #[must_use]
    pub fn stage(&self) -> &'static str {
        self.stage
    }

    /// Returns the rejected options, each with the reason.
    #[must_use]
    pub fn rejected(&self) -> &[RejectedAlternative] {
        &self.rejected
    }

    /// Returns a ruling for a decision other than ACT: to escalate, defer, cancel or verify first. The decision lists
    /// the rejected options.
    pub fn instead(self, policy: Tradeoff, why: &Text) -> Ruling<Withdrawn> {
        Ruling::new(None, self.rejected, policy, why)
    }
}

impl Arbitration<Proposed> {
    /// Starts an arbitration between options.
    pub fn of(options: impl IntoIterator<Item = impl Into<Candidate>>) -> Self {
        let options = options.into_iter().map(Into::into).collect();
        Self { options, rejected: Vec::new(), stage: PhantomData }
    }

    /// Stage 1: rejects the options that the constitution forbids.
    ///
    /// # Errors
    /// No option remains.
    pub fn veto(self, allowed: impl Fn(&Candidate) -> bool) -> Result<Arbitration<Vetted>, NothingLeft> {
        self.keep("constitutional veto", allowed)
    }
}

impl Arbitration<Vetted> {
    /// Stage 2: rejects the options that budgets and tools do not allow.
    ///
    /// # Errors
    /// No option remains.
    pub fn feasible(self, fits: impl Fn(&Candidate) -> bool) -> Result<Arbitration<Feasible>, NothingLeft> {
        self.keep("feasibility check", fits)
    }
}

impl Arbitration<Feasible> {
    /// Stage 3: chooses the first remaining option under a policy, with a reason.
    pub fn tradeoff(self, policy: Tradeoff, why: &Text) -> Ruling {
        let mut options = self.options.into_iter();
        let chosen = options.next();
        let mut rejected = self.rejected;
        rejected.extend(options.map(|option| reject(option, policy.as_str())));
        Ruling::new(chosen, rejected, policy, why)
    }
}

impl<Stage> Arbitration<Stage> {
    fn keep<Next>(
        mut self,
        stage: &'static str,
        keep: impl Fn(&Candidate) -> bool,
    ) -> Result<Arbitration<Next>, NothingLeft> {
        let (options, out): (Vec<_>, Vec<_>) = self.options.into_iter().partition(keep);
        self.rejected.extend(out.into_iter().map(|option| reject(option, stage)));
        if options.is_empty() {
            return Err(NothingLeft { stage, rejected: self.rejected });
        }
        Ok(Arbitration { options, rejected: self.rejected, stage: PhantomData })
    }
}

fn reject(option: Candidate, reason: &str) -> RejectedAlternative {
    RejectedAlternative::builder().option_id(option.id).rejection_reason(reason).build()
}

/// Policies of stage 3 (D33).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tradeoff {
    /// The safest option.
    SafetyFirst,
    /// The best option for its risk.
    RiskAdjusted,
    /// The option with the least regret.
    MinRegret,
    /// The option with the best expected value.
    ExpectedValue,
}

impl Tradeoff {
    /// Returns the name that INV-006 searches for in the summary of a decision.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        let [safety, risk_adjusted, min_regret, expected_value] =
            omen_invariants::rules::inv_006_drive_arbitration::POLICIES;
        match self {
            Self::SafetyFirst => safety,
            Self::RiskAdjusted => risk_adjusted,
            Self::MinRegret => min_regret,
            Self::ExpectedValue => expected_value,
        }
    }
}

/// Marker for a ruling with a chosen option.
#[derive(Debug)]
pub enum Chosen {}
/// Marker for a ruling without an option to act on.
#[derive(Debug)]
pub enum Withdrawn {}

/// Result of an arbitration: proof that its stages ran. It permits one decision; only a ruling with a `Chosen` option
/// permits acting.
#[must_use = "it is given to a decision"]
#[derive(Debug)]
pub struct Ruling<K = Chosen> {
    /// Boxed because a refused ruling is returned in the error.
    pub(super) draft: Box<RulingDraft>,
    kind: PhantomData<fn(K) -> K>,
}

#[derive(Clone, Debug)]
pub(super) struct RulingDraft {
    pub(super) chosen: Option<ChosenOption>,
    rejected: Vec<RejectedAlternative>,
    summary: Text,
    /// Required end of the summary: the policy and any order of layer 1.
    suffix: String,
    pub(super) failure_modes: Vec<FailureMode>,
    pub(super) extras: DecisionPayloadExtras,
    /// Generated payload, if any.
    stated: Option<Box<DecisionPayload>>,
}

impl Ruling {
    /// Returns an order to act on the ruling, without assumptions.
    pub fn to_act(self) -> ActOrder<AllVerified> {
        ActOrder { ruling: self, assumptions: Vec::new(), proofs: Vec::new(), layer: None, kind: PhantomData }
    }
}

impl Ruling<Withdrawn> {
    /// Returns a ruling to give up, without options.
    pub(crate) fn to_give_up(why: &Text) -> Self {
        Self::new(None, Vec::new(), Tradeoff::SafetyFirst, why)
    }
}

impl<K> Ruling<K> {
    fn new(chosen: Option<Candidate>, rejected: Vec<RejectedAlternative>, policy: Tradeoff, why: &Text) -> Self {
        let suffix = format!(" [{}]", policy.as_str());
        let summary = why.suffixed(&suffix);
        let chosen = chosen
            .map(|chosen| ChosenOption::builder().option_id(chosen.id).maybe_description(chosen.description).build());
        let (failure_modes, extras) = Default::default();
        let draft = RulingDraft { chosen, rejected, summary, suffix, failure_modes, extras, stated: None };
        Self { draft: Box::new(draft), kind: PhantomData }
    }

    /// Adds a failure mode and its mitigation.
    pub fn may_fail(mut self, mode: impl Into<String>, mitigation: impl Into<String>) -> Self {
        self.draft.failure_modes.push(FailureMode::builder().mode(mode).mitigation(mitigation).build());
        self
    }

    /// Sets a generated payload for the decision. The ruling remains the proof that the stages ran (INV-006); a payload
    /// cannot prove that. So the payload must agree with the ruling:
    ///
    /// - its `chosen_option` is the chosen option, and is absent if there is none;
    /// - its `load_bearing_assumptions`, if any, are those that the order relies on or assumes, in the same order: only
    ///   [`Verified`] proves that an assumption is verified (INV-003);
    /// - its `decision_outcome` is that of the move that takes the ruling;
    /// - `constitutional_check` and `budget_check` are true. The episode checks `tier_check` and `verification_check`
    ///   against the envelope, as in every decision (D61).
    ///
    /// The rejected options and the tradeoff policy are added if the payload lacks them. If the payload contradicts the
    /// ruling, nothing is written: a move with an error in its type returns the error, any other keeps it as trouble
    /// (see [`Episode::trouble`](crate::episode::Episode::trouble)).
    pub fn stating(mut self, payload: DecisionPayload) -> Self {
        let id = |option: &Option<ChosenOption>| option.as_ref().map(|option| option.option_id.clone());
        // Setters that are called later modify the payload.
        if id(&self.draft.chosen) == id(&payload.chosen_option) {
            self.draft.chosen.clone_from(&payload.chosen_option);
            self.draft.extras = DecisionPayloadExtras::copied_from(&payload);
        }
        self.draft.stated = Some(Box::new(payload));
        self
    }

    pub(crate) fn draft(&self, outcome: DecisionOutcome) -> Result<Draft, Refusal> {
        Ok(Draft::new(self.payload(outcome, Vec::new())?))
    }

    fn payload(
        &self,
        outcome: DecisionOutcome,
        assumptions: Vec<LoadBearingAssumption>,
    ) -> Result<DecisionPayload, Refusal> {
        match &self.draft.stated {
            Some(stated) => {
                let own = self.own_payload(outcome, assumptions);
                let mut payload =
                    super::decision_payload::decision(DecisionPayload::clone(stated), own, &self.draft.suffix)?;
                self.draft.extras.clone().fill(&mut payload);
                Ok(payload)
            }
            None => Ok(self.own_payload(outcome, assumptions)),
        }
    }

    fn own_payload(&self, outcome: DecisionOutcome, assumptions: Vec<LoadBearingAssumption>) -> DecisionPayload {
        let RulingDraft { chosen, rejected, summary, failure_modes, extras, .. } = RulingDraft::clone(&self.draft);
        // The stages have performed these two checks (INV-006). Tier and verification are checked against the envelope
        // when the decision is sent (D61).
        let checks =
            ConstraintsSatisfied::builder().constitutional_check(true).budget_check(true).tier_check(false).build();
        let mut payload = DecisionPayload::builder()
            .decision_outcome(outcome)
            .decision_summary(summary)
            .constraints_satisfied(checks)
            .maybe_chosen_option(chosen)
            .maybe_rejected_alternatives(some(rejected))
            .maybe_load_bearing_assumptions(some(assumptions))
            .maybe_failure_modes(some(failure_modes))
            .build();
        extras.fill(&mut payload);
        payload
    }
}

fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}

/// Order to act; `A` states whether its assumptions are verified (INV-003).
#[must_use = "it is given to `.act(..)`"]
#[derive(Debug)]
pub struct ActOrder<A> {
    ruling: Ruling,
    pub(super) assumptions: Vec<LoadBearingAssumption>,
    /// Plans behind the proofs of its assumptions.
    proofs: Vec<Tag>,
    layer: Option<LayerSource>,
    kind: PhantomData<fn(A) -> A>,
}

impl<A> ActOrder<A> {
    /// Adds an assumption that the agent has verified in a loop. If no check of that loop has succeeded, the decision
    /// states the assumption as not verified.
    pub fn relies_on(mut self, verified: Verified) -> Self {
        let assumption = LoadBearingAssumption::builder()
            .assumption(verified.assumption)
            .verified(verified.is_shown)
            .maybe_verification_packet_id(verified.packet.map(|packet| packet.to_string()))
            .build();
        self.assumptions.push(assumption);
        self.proofs.push(verified.episode);
        self
    }

    /// Adds an unverified assumption.
    pub fn assumes(mut self, assumption: &Text) -> ActOrder<SomeUnverified> {
        self.assumptions
            .push(LoadBearingAssumption::builder().assumption(assumption.to_string()).verified(false).build());
        self.kind()
    }

    /// Overrides INV-003 with an order of layer 1 (D30), which the log records.
    pub fn layer1_override(mut self, order: Layer1Order) -> ActOrder<Overridden> {
        let (draft, words) = (&mut self.ruling.draft, format!(" [{OVERRIDE}: {}]", order.reason()));
        draft.summary = draft.summary.suffixed(&words);
        draft.suffix.push_str(&words);
        self.layer = Some(LayerSource::LayerNumber(LayerNumber::MIN));
        self.kind()
    }

    fn kind<B>(self) -> ActOrder<B> {
        let Self { ruling, assumptions, proofs, layer, .. } = self;
        ActOrder { ruling, assumptions, proofs, layer, kind: PhantomData }
    }

    /// Checks that all proofs belong to the given episode.
    pub(crate) fn check(&self, episode: &Tag) -> Result<(), Arc<Refusal>> {
        if self.proofs.iter().all(|proof| proof == episode) {
            return Ok(());
        }
        let problem = "the order relies on an assumption that no loop of this episode has verified";
        let finding = Diagnostic::error(Code::Inv003, problem)
            .at("/payload/load_bearing_assumptions")
            .help("call `proof.verifies(assumption)` with an assumption of the plan of that loop");
        Err(Arc::new(Refusal::rule(finding)))
    }

    pub(crate) fn draft(&self, outcome: DecisionOutcome) -> Result<Draft, Refusal> {
        let payload = self.ruling.payload(outcome, self.assumptions.clone())?;
        Ok(Draft { layer: self.layer, ..Draft::new(payload) })
    }
}

// Traits that explain stages called out of order. The inherent method of the right stage takes precedence.

/// Bound that no type satisfies, so such a call never compiles.
#[doc(hidden)]
pub trait Never: Sized {
    type Out;
    fn out<T>(value: T) -> Self::Out;
}

/// Explains methods called on the wrong ruling. The methods cannot be called successfully.
#[doc(hidden)]
pub trait ExplainRuling<K>: Sized {
    fn to_act(self) -> <K as Never>::Out
    where
        K: ToActHere;
}

impl<K> ExplainRuling<K> for Ruling<K> {
    fn to_act(self) -> <K as Never>::Out
    where
        K: ToActHere,
    {
        K::out(self)
    }
}

/// Explains methods called in the wrong stage. The methods cannot be called successfully.
#[doc(hidden)]
pub trait ExplainArbitration<S>: Sized {
    fn feasible(self, _fits: impl Sized) -> <S as Never>::Out
    where
        S: FeasibleHere;
    fn tradeoff(self, _policy: impl Sized, _why: impl Sized) -> <S as Never>::Out
    where
        S: TradeoffHere;
}

impl<S> ExplainArbitration<S> for Arbitration<S> {
    fn feasible(self, _fits: impl Sized) -> <S as Never>::Out
    where
        S: FeasibleHere,
    {
        S::out(self)
    }

    fn tradeoff(self, _policy: impl Sized, _why: impl Sized) -> <S as Never>::Out
    where
        S: TradeoffHere,
    {
        S::out(self)
    }
}
