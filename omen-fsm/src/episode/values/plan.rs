//! Verification plans, and the proof that a loop was completed.

use std::num::NonZeroU32;

use omen_types::{
    Code, Count, Diagnostic, PacketId, PositiveCount, Text, VerificationMethod, VerificationPlanPayload,
    VerificationTarget,
};

use omen_invariants::facts::Tool;

use super::super::draft::Draft;
use super::super::errors::Refusal;
use super::super::tag::Tag;
use super::VerificationPlanPayloadExtras;

/// Verification target: an assumption, a method, and the success criteria.
#[derive(Clone, Debug)]
pub struct Target(pub(super) VerificationTarget);

impl Target {
    /// Creates a target that is verified with a tool.
    #[must_use]
    pub fn tool<T: Tool>(assumption: Text, success_criteria: Text, _tool: T) -> Self {
        let mut target = Self::of(assumption, VerificationMethod::Tool, success_criteria);
        target.0.tool_id = Some(T::ID.to_owned());
        target
    }

    /// Creates a target that is verified by another method: a user, a calculation, or the memory.
    #[must_use]
    pub fn of(assumption: Text, method: VerificationMethod, success_criteria: Text) -> Self {
        let target =
            VerificationTarget::builder().assumption(assumption).method(method).success_criteria(success_criteria);
        Self(target.build())
    }
}

/// Plan of a verification loop, with at least one target.
#[must_use = "it is sent with `.verify(..)`"]
#[derive(Debug)]
pub struct Plan {
    targets: Vec<VerificationTarget>,
    max_tool_calls: Option<Count>,
    time_budget_seconds: Option<PositiveCount>,
    pub(super) extras: VerificationPlanPayloadExtras,
    /// Decision that a generated payload names.
    decision: Option<PacketId>,
    pub(crate) tag: Tag,
}

impl Plan {
    /// Creates a plan to verify assumptions, and an [`Assumption`] for each target. With the proof of the loop,
    /// [`Proof::verifies`] converts it to a [`Verified`].
    pub fn of<const N: usize>(targets: [Target; N]) -> (Self, [Assumption; N])
    where
        [(); N]: omen_invariants::facts::AtLeastOneTarget,
    {
        let tag = Tag::default();
        let assumptions =
            targets.each_ref().map(|target| Assumption { text: target.0.assumption.to_string(), plan: tag.clone() });
        let plan = Self {
            targets: targets.into_iter().map(|target| target.0).collect(),
            max_tool_calls: None,
            time_budget_seconds: None,
            extras: VerificationPlanPayloadExtras::default(),
            decision: None,
            tag,
        };
        (plan, assumptions)
    }

    /// Creates a plan from a generated payload, and an [`Assumption`] for each target. The payload must name the decision that
    /// started the loop ([`Episode::decision`](crate::episode::Episode::decision)), or `.verify(..)` refuses it.
    pub fn stating(payload: VerificationPlanPayload) -> (Self, Vec<Assumption>) {
        let tag = Tag::default();
        let assumed = |target: &VerificationTarget| Assumption::new(target.assumption.to_string(), tag.clone());
        let assumptions = payload.targets.iter().map(assumed).collect();
        let plan = Self {
            extras: VerificationPlanPayloadExtras::copied_from(&payload),
            targets: payload.targets,
            max_tool_calls: payload.max_tool_calls,
            time_budget_seconds: payload.time_budget_seconds,
            decision: Some(payload.decision_packet_id),
            tag,
        };
        (plan, assumptions)
    }

    /// Creates a plan to verify one assumption.
    pub fn one(target: Target) -> (Self, Assumption) {
        let (plan, [assumption]) = Self::of([target]);
        (plan, assumption)
    }

    /// Sets the maximum number of tool calls for the verification.
    pub fn max_tool_calls(mut self, calls: u32) -> Self {
        self.max_tool_calls = Some(Count::from(calls));
        self
    }

    /// Sets the time limit of the verification in seconds; 0 counts as 1.
    pub fn time_budget_seconds(mut self, seconds: u32) -> Self {
        self.time_budget_seconds = Some(NonZeroU32::new(seconds).unwrap_or(NonZeroU32::MIN).into());
        self
    }

    /// Returns the packet of the plan.
    ///
    /// # Errors
    /// A payload that names another decision.
    pub(crate) fn draft(&self, decision: PacketId) -> Result<Draft, Refusal> {
        if let Some(named) = self.decision.as_ref().filter(|named| **named != decision) {
            let problem = format!("the plan names the decision `{named}`, but `{decision}` began the loop");
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

/// Drops the assumptions, so no order can rely on them; [`Plan::stating`] also returns the assumptions.
impl From<VerificationPlanPayload> for Plan {
    fn from(payload: VerificationPlanPayload) -> Self {
        Self::stating(payload).0
    }
}

/// Assumption that a plan is meant to verify. Only a plan creates one.
#[must_use = "with the loop's proof it becomes `Verified`"]
#[derive(Debug)]
pub struct Assumption {
    text: String,
    plan: Tag,
}

impl Assumption {
    pub(crate) fn new(text: String, plan: Tag) -> Self {
        Self { text, plan }
    }
}

/// Proof that a verification loop was completed. Only the belief update that closes a loop creates one.
///
/// Proves that the loop had a plan, a check and an observation, and that a check ended with SUCCESS, unless degraded
/// tools waived that (D22). No type can show which assumption a result supports: the agent judges that before it calls
/// [`Proof::verifies`].
#[derive(Debug)]
pub struct Proof {
    pub(crate) observed: Option<PacketId>,
    /// Plans of the loop; empty if the belief update was refused.
    pub(crate) plans: Vec<Tag>,
    /// Whether a check of the loop has succeeded.
    pub(crate) has_succeeded: bool,
    pub(crate) episode: Tag,
}

impl Proof {
    /// States that the loop has verified an assumption, as judged by the agent from the results of the checks. If the
    /// assumption comes from a plan of another loop, the order that relies on it is refused (INV-003). A loop without a
    /// successful check, which degraded tools can waive, verifies nothing: the decision states the assumption as not
    /// verified, and is refused at high stakes (INV-003).
    pub fn verifies(&self, assumption: Assumption) -> Verified {
        Verified {
            // An assumption from another loop gets a tag that belongs to no episode.
            episode: if self.plans.contains(&assumption.plan) { self.episode.clone() } else { Tag::default() },
            assumption: assumption.text,
            packet: self.observed.clone(),
            is_shown: self.has_succeeded,
        }
    }
}

/// Assumption that the agent judges to be verified, with the evidence of its loop.
#[must_use = "an order relies on it: `.relies_on(..)`"]
#[derive(Debug)]
pub struct Verified {
    pub(crate) assumption: String,
    pub(crate) packet: Option<PacketId>,
    /// Whether a check of the loop has succeeded.
    pub(crate) is_shown: bool,
    pub(crate) episode: Tag,
}
