//! Arbitration: veto, then feasibility, then tradeoff (INV-006).
//!
//! The order is in the types: each stage is a method of what the one before gives. Whether an option
//! survives a stage is known at run time.

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
use super::super::mark::Mark;
use super::super::refused::Refusal;
use super::super::{FeasibleHere, ToActHere, TradeoffHere};
use super::{DecisionPayloadExtras, Layer1Order, Verified};

/// Options were proposed, and none was looked at.
#[derive(Debug)]
pub enum Proposed {}
/// What the constitution forbids was struck out.
#[derive(Debug)]
pub enum Vetted {}
/// What is not feasible was struck out, too.
#[derive(Debug)]
pub enum Feasible {}

/// An option to choose from.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its id.
    pub id: String,
    /// What it is, in words.
    pub description: Option<String>,
}

impl<T: Into<String>> From<T> for Candidate {
    fn from(id: T) -> Self {
        Self { id: id.into(), description: None }
    }
}

/// Options on their way through the stages.
#[must_use = "an arbitration ends with `.tradeoff(..)`"]
#[derive(Debug)]
pub struct Arbitration<Stage> {
    options: Vec<Candidate>,
    rejected: Vec<RejectedAlternative>,
    stage: PhantomData<fn(Stage) -> Stage>,
}

/// A stage that struck out every option: proof that the stages up to it ran, and good for one ruling.
#[derive(Debug)]
pub struct NothingLeft {
    stage: &'static str,
    rejected: Vec<RejectedAlternative>,
}

impl fmt::Display for NothingLeft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "INV-006: no option is left after the {}: escalate, defer or cancel", self.stage)
    }
}

impl std::error::Error for NothingLeft {}

impl NothingLeft {
    /// The stage.
    #[must_use]
    pub fn stage(&self) -> &'static str {
        self.stage
    }

    /// All that was struck out, and why.
    #[must_use]
    pub fn rejected(&self) -> &[RejectedAlternative] {
        &self.rejected
    }

    /// Decides otherwise than to act: to escalate, defer, cancel or verify first. What was struck out
    /// stands in the decision.
    pub fn instead(self, policy: Tradeoff, why: &Text) -> Ruling<Withdrawn> {
        Ruling::new(None, self.rejected, policy, why)
    }
}

impl Arbitration<Proposed> {
    /// Among options.
    pub fn of(options: impl IntoIterator<Item = impl Into<Candidate>>) -> Self {
        let options = options.into_iter().map(Into::into).collect();
        Self { options, rejected: Vec::new(), stage: PhantomData }
    }

    /// Stage 1: strikes out what the constitution forbids.
    ///
    /// # Errors
    /// If no option is left.
    pub fn veto(self, allowed: impl Fn(&Candidate) -> bool) -> Result<Arbitration<Vetted>, NothingLeft> {
        self.keep("constitutional veto", allowed)
    }
}

impl Arbitration<Vetted> {
    /// Stage 2: strikes out what budgets and tools do not allow.
    ///
    /// # Errors
    /// If no option is left.
    pub fn feasible(self, fits: impl Fn(&Candidate) -> bool) -> Result<Arbitration<Feasible>, NothingLeft> {
        self.keep("feasibility check", fits)
    }
}

impl Arbitration<Feasible> {
    /// Stage 3: chooses the first option that is left, by a policy, and says why.
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

/// The policies of stage 3 (D33).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tradeoff {
    /// The safest option.
    SafetyFirst,
    /// The best for its risk.
    RiskAdjusted,
    /// The one to be regretted least.
    MinRegret,
    /// The one with the best expected value.
    ExpectedValue,
}

impl Tradeoff {
    /// The name that INV-006 looks for in a decision's summary.
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

/// An option was chosen.
#[derive(Debug)]
pub enum Chosen {}
/// No option was left to act on.
#[derive(Debug)]
pub enum Withdrawn {}

/// What an arbitration came to: proof that its stages ran. Good for one decision; only one with an
/// option that was `Chosen` is good for acting.
#[must_use = "it is given to a decision"]
#[derive(Debug)]
pub struct Ruling<K = Chosen> {
    /// In a box, for a ruling that is refused goes back through the error.
    pub(super) draft: Box<RulingDraft>,
    kind: PhantomData<fn(K) -> K>,
}

#[derive(Clone, Debug)]
pub(super) struct RulingDraft {
    pub(super) chosen: Option<ChosenOption>,
    rejected: Vec<RejectedAlternative>,
    summary: Text,
    /// What the summary has to end with: the policy, and an order of layer 1.
    suffix: String,
    pub(super) failure_modes: Vec<FailureMode>,
    pub(super) extras: DecisionPayloadExtras,
    /// What a generated payload says; its ruling's own members have been put into it.
    stated: Option<Box<DecisionPayload>>,
}

impl Ruling {
    /// An order to act on it, with no assumption yet.
    pub fn to_act(self) -> ActOrder<AllVerified> {
        ActOrder { ruling: self, assumptions: Vec::new(), proofs: Vec::new(), layer: None, kind: PhantomData }
    }
}

impl Ruling<Withdrawn> {
    /// To give up, without options, for a reason that is no choice.
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

    /// How it may fail, and what is done then.
    pub fn may_fail(mut self, mode: impl Into<String>, mitigation: impl Into<String>) -> Self {
        self.draft.failure_modes.push(FailureMode::builder().mode(mode).mitigation(mitigation).build());
        self
    }

    /// The decision in the words of a generated payload. The ruling stays the proof that the stages ran (INV-006), which
    /// no payload is; so the payload has to say what the ruling says:
    ///
    /// - its `chosen_option` is the one that was chosen, and absent if none was;
    /// - its `load_bearing_assumptions`, if any, are those that the order relies on or assumes, in their order: whether
    ///   one is verified, [`Verified`] proves and no payload (INV-003);
    /// - its `decision_outcome` is that of the move that takes the ruling;
    /// - `constitutional_check` and `budget_check` are true. What `tier_check` and `verification_check` say, the episode checks
    ///   against the envelope, as in every decision (D61).
    ///
    /// What the stages struck out, and the policy of the tradeoff, are added if the payload does not have them. Where the
    /// payload says otherwise, a move that can fail refuses it, and one that cannot keeps that as trouble (see
    /// [`Episode::trouble`](crate::episode::Episode::trouble)); nothing is written then.
    pub fn stating(mut self, payload: DecisionPayload) -> Self {
        let id = |option: &Option<ChosenOption>| option.as_ref().map(|option| option.option_id.clone());
        // Setters that come after this one add to what the payload says.
        if id(&self.draft.chosen) == id(&payload.chosen_option) {
            self.draft.chosen.clone_from(&payload.chosen_option);
            self.draft.extras = DecisionPayloadExtras::of(&payload);
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
                let mut payload = super::stated::decision(DecisionPayload::clone(stated), own, &self.draft.suffix)?;
                self.draft.extras.clone().fill(&mut payload);
                Ok(payload)
            }
            None => Ok(self.own_payload(outcome, assumptions)),
        }
    }

    fn own_payload(&self, outcome: DecisionOutcome, assumptions: Vec<LoadBearingAssumption>) -> DecisionPayload {
        let RulingDraft { chosen, rejected, summary, failure_modes, extras, .. } = RulingDraft::clone(&self.draft);
        // The stages have seen to these two (INV-006). Tier and verification are checked as the decision is sent, against
        // its envelope (D61).
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

/// An order to act; `A` says whether its assumptions are verified (INV-003).
#[must_use = "it is given to `.act(..)`"]
#[derive(Debug)]
pub struct ActOrder<A> {
    ruling: Ruling,
    pub(super) assumptions: Vec<LoadBearingAssumption>,
    /// The plans that the proofs of its assumptions come from.
    proofs: Vec<Mark>,
    layer: Option<LayerSource>,
    kind: PhantomData<fn(A) -> A>,
}

impl<A> ActOrder<A> {
    /// It rests on an assumption that the agent has verified in a loop. After a loop without a check that has
    /// succeeded, the decision says that it is not verified.
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

    /// It rests on an assumption that nobody has verified.
    pub fn assumes(mut self, assumption: &Text) -> ActOrder<SomeUnverified> {
        self.assumptions
            .push(LoadBearingAssumption::builder().assumption(assumption.to_string()).verified(false).build());
        self.kind()
    }

    /// Layer 1 orders it all the same (D30). The log shows that INV-003 was overridden.
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

    /// Whether all its proofs are of an episode.
    pub(crate) fn check(&self, episode: &Mark) -> Result<(), Arc<Refusal>> {
        if self.proofs.iter().all(|proof| proof == episode) {
            return Ok(());
        }
        let problem = "the order relies on an assumption that no loop of this episode has verified";
        let finding = Diagnostic::error(Code::Inv003, problem)
            .at("/payload/load_bearing_assumptions")
            .help("`proof.verifies(assumption)` takes an assumption of the plan whose loop gave the proof");
        Err(Arc::new(Refusal::rule(finding)))
    }

    pub(crate) fn draft(&self, outcome: DecisionOutcome) -> Result<Draft, Refusal> {
        let payload = self.ruling.payload(outcome, self.assumptions.clone())?;
        Ok(Draft { layer: self.layer, ..Draft::new(payload) })
    }
}

// Answers to stages that are called out of order. A method of the right stage comes first.

/// What nothing is: such an answer is never given.
#[doc(hidden)]
pub trait Never: Sized {
    type Out;
    fn out<T>(value: T) -> Self::Out;
}

/// Nothing here can be called.
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

/// Nothing here can be called.
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
