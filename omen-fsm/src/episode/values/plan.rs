//! Verification: what is to be verified, and the proof that it was.

use std::num::NonZeroU32;

use omen_types::{
    Code, Count, Diagnostic, PacketId, PositiveCount, Text, VerificationMethod, VerificationPlanPayload,
    VerificationTarget,
};

use omen_invariants::facts::Tool;

use super::super::draft::Draft;
use super::super::mark::Mark;
use super::super::refused::Refusal;
use super::VerificationPlanPayloadExtras;

/// Something to verify: an assumption, how, and what shows that it holds.
#[derive(Clone, Debug)]
pub struct Target(pub(super) VerificationTarget);

impl Target {
    /// Verified with a tool.
    #[must_use]
    pub fn tool<T: Tool>(assumption: Text, success_criteria: Text, _tool: T) -> Self {
        let mut target = Self::of(assumption, VerificationMethod::Tool, success_criteria);
        target.0.tool_id = Some(T::ID.to_owned());
        target
    }

    /// Verified in another way: by a user, a calculation, from memory.
    #[must_use]
    pub fn of(assumption: Text, method: VerificationMethod, success_criteria: Text) -> Self {
        let target =
            VerificationTarget::builder().assumption(assumption).method(method).success_criteria(success_criteria);
        Self(target.build())
    }
}

/// What a verification loop is to verify; it has at least one target.
#[must_use = "it is sent with `.verify(..)`"]
#[derive(Debug)]
pub struct Plan {
    targets: Vec<VerificationTarget>,
    max_tool_calls: Option<Count>,
    time_budget_seconds: Option<PositiveCount>,
    pub(super) extras: VerificationPlanPayloadExtras,
    /// The decision that a payload says it serves.
    decision: Option<PacketId>,
    pub(crate) mark: Mark,
}

impl Plan {
    /// To verify some assumptions. The second part stands for them, one each: with the loop's proof,
    /// [`Proof::verifies`] makes a [`Verified`] of it.
    pub fn of<const N: usize>(targets: [Target; N]) -> (Self, [Assumption; N])
    where
        [(); N]: omen_invariants::facts::AtLeastOneTarget,
    {
        let mark = Mark::default();
        let assumptions =
            targets.each_ref().map(|target| Assumption { text: target.0.assumption.to_string(), plan: mark.clone() });
        let plan = Self {
            targets: targets.into_iter().map(|target| target.0).collect(),
            max_tool_calls: None,
            time_budget_seconds: None,
            extras: VerificationPlanPayloadExtras::default(),
            decision: None,
            mark,
        };
        (plan, assumptions)
    }

    /// What a generated payload says, and its assumptions, one a target. It has to name the decision that began the loop
    /// ([`Episode::decision`](crate::episode::Episode::decision)), or `.verify(..)` refuses it.
    pub fn stating(payload: VerificationPlanPayload) -> (Self, Vec<Assumption>) {
        let mark = Mark::default();
        let assumed = |target: &VerificationTarget| Assumption::of(target.assumption.to_string(), mark.clone());
        let assumptions = payload.targets.iter().map(assumed).collect();
        let plan = Self {
            extras: VerificationPlanPayloadExtras::of(&payload),
            targets: payload.targets,
            max_tool_calls: payload.max_tool_calls,
            time_budget_seconds: payload.time_budget_seconds,
            decision: Some(payload.decision_packet_id),
            mark,
        };
        (plan, assumptions)
    }

    /// To verify one assumption.
    pub fn one(target: Target) -> (Self, Assumption) {
        let (plan, [assumption]) = Self::of([target]);
        (plan, assumption)
    }

    /// The most tool calls that the verification may use.
    pub fn max_tool_calls(mut self, calls: u32) -> Self {
        self.max_tool_calls = Some(Count::from(calls));
        self
    }

    /// The most seconds that it may take; 0 counts as 1.
    pub fn time_budget_seconds(mut self, seconds: u32) -> Self {
        self.time_budget_seconds = Some(NonZeroU32::new(seconds).unwrap_or(NonZeroU32::MIN).into());
        self
    }

    /// # Errors
    /// If a payload has named another decision.
    pub(crate) fn draft(&self, decision: PacketId) -> Result<Draft, Refusal> {
        if let Some(named) = self.decision.as_ref().filter(|named| **named != decision) {
            let problem = format!("the plan serves `{named}`, and the loop was begun by `{decision}`");
            let finding = Diagnostic::error(Code::E3, problem)
                .at("/payload/decision_packet_id")
                .help("name the decision that began the loop: `episode.decision()`");
            return Err(Refusal::rule(finding));
        }
        let mut payload = VerificationPlanPayload::builder()
            .decision_packet_id(decision)
            .targets(self.targets.clone())
            .maybe_max_tool_calls(self.max_tool_calls)
            .maybe_time_budget_seconds(self.time_budget_seconds)
            .unchecked();
        self.extras.clone().fill(&mut payload);
        Ok(Draft::new(payload))
    }
}

/// Without its assumptions, so that no order can rely on them: [`Plan::stating`] gives those, too.
impl From<VerificationPlanPayload> for Plan {
    fn from(payload: VerificationPlanPayload) -> Self {
        Self::stating(payload).0
    }
}

/// An assumption that a plan is to verify. Only a plan makes one.
#[must_use = "with the loop's proof it becomes `Verified`"]
#[derive(Debug)]
pub struct Assumption {
    text: String,
    plan: Mark,
}

impl Assumption {
    pub(crate) fn of(text: String, plan: Mark) -> Self {
        Self { text, plan }
    }
}

/// Proof that a verification loop was completed. Only the belief update that closes one makes it.
///
/// It says that the loop had its plan, its check and its observation, and that a check was answered with SUCCESS, unless
/// degraded tools have waived that (D22). Which assumption an answer bears out, no type can tell: that is
/// for the agent to judge, before it says so with [`Proof::verifies`].
#[derive(Debug)]
pub struct Proof {
    pub(crate) observed: Option<PacketId>,
    /// None, if the belief update was refused.
    pub(crate) plans: Vec<Mark>,
    /// Whether a check of the loop has succeeded.
    pub(crate) has_succeeded: bool,
    pub(crate) episode: Mark,
}

impl Proof {
    /// Says that the loop has verified an assumption, as the agent has judged from what the checks have
    /// answered. It has to be one of the loop's own plan, else the order that relies on it is refused
    /// (INV-003). A loop in which no check has succeeded, for degraded tools have waived that, verifies
    /// nothing: the decision says so of the assumption, and at high stakes it is refused (INV-003).
    pub fn verifies(&self, assumption: Assumption) -> Verified {
        Verified {
            // Without a plan of this loop it counts as of no episode.
            episode: if self.plans.contains(&assumption.plan) { self.episode.clone() } else { Mark::default() },
            assumption: assumption.text,
            packet: self.observed.clone(),
            is_shown: self.has_succeeded,
        }
    }
}

/// An assumption that the agent holds to be verified, with the evidence of the loop that it was verified in.
#[must_use = "an order relies on it: `.relies_on(..)`"]
#[derive(Debug)]
pub struct Verified {
    pub(crate) assumption: String,
    pub(crate) packet: Option<PacketId>,
    /// Whether a check of the loop has succeeded.
    pub(crate) is_shown: bool,
    pub(crate) episode: Mark,
}
