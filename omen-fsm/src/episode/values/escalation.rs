//! Options for a human to decide between (E5, INV-009).

use omen_types::{EscalationOption, EscalationPayload, EscalationTrigger, EvidenceGap, NextStep, Text};

use super::super::core::Draft;
use super::{EscalationPayloadExtras, NextStepExtras};

/// An escalation with `O` options and `G` gaps in the evidence. A literal that lacks a member, or has
/// another number of options than two or three, or no gap, does not compile.
#[must_use = "it is sent with `.escalate(..)`"]
#[derive(Clone, Debug)]
pub struct Escalation<const O: usize, const G: usize> {
    /// Why a human has to decide.
    pub trigger: EscalationTrigger,
    /// The options.
    pub options: [Choice; O],
    /// What is not known.
    pub gaps: [Gap; G],
    /// What is recommended.
    pub next_step: Step,
}

/// An option.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Its id, by which the human may answer.
    pub id: String,
    /// What it is.
    pub description: String,
    /// What speaks for it.
    pub pros: Vec<String>,
    /// What speaks against it.
    pub cons: Vec<String>,
}

/// Something that is not known.
#[derive(Clone, Debug)]
pub struct Gap {
    /// What it is.
    pub gap: String,
    /// What that may lead to.
    pub impact_if_unknown: String,
}

/// What is recommended to do next.
#[derive(Clone, Debug)]
pub struct Step {
    /// What to do.
    pub step: Text,
    /// Why.
    pub rationale: String,
}

impl<const O: usize, const G: usize> Escalation<O, G> {
    /// The same, with a method for each member that the literal does not have.
    pub fn full(self) -> FullEscalation<O, G> {
        let (extras, next_step) = Default::default();
        FullEscalation { said: self, extras, next_step }
    }
}

/// An escalation with members that the literal of [`Escalation`] does not have.
#[must_use = "it is sent with `.escalate(..)`"]
#[derive(Clone, Debug)]
pub struct FullEscalation<const O: usize, const G: usize> {
    said: Escalation<O, G>,
    pub(super) extras: EscalationPayloadExtras,
    pub(super) next_step: NextStepExtras,
}

/// What `.escalate(..)` takes: an [`Escalation`], or a [`FullEscalation`].
pub trait Escalates<const O: usize, const G: usize> {
    /// It, with all members.
    fn full(self) -> FullEscalation<O, G>;
}

impl<const O: usize, const G: usize> Escalates<O, G> for Escalation<O, G> {
    fn full(self) -> FullEscalation<O, G> {
        self.full()
    }
}

impl<const O: usize, const G: usize> Escalates<O, G> for FullEscalation<O, G> {
    fn full(self) -> Self {
        self
    }
}

impl<const O: usize, const G: usize> FullEscalation<O, G> {
    pub(crate) fn draft(self) -> Draft {
        let Self { said, extras, next_step: more } = self;
        let options = said.options.into_iter().map(|choice| {
            EscalationOption::builder()
                .option_id(choice.id)
                .description(choice.description)
                .pros(choice.pros)
                .cons(choice.cons)
                .build()
        });
        let gaps = said
            .gaps
            .into_iter()
            .map(|gap| EvidenceGap::builder().gap(gap.gap).impact_if_unknown(gap.impact_if_unknown).build());
        let mut next_step = NextStep::builder().step(said.next_step.step).rationale(said.next_step.rationale).build();
        more.fill(&mut next_step);
        let mut payload = EscalationPayload::builder()
            .escalation_trigger(said.trigger)
            .top_options(options.collect())
            .evidence_gaps(gaps.collect())
            .recommended_next_step(next_step)
            .unchecked();
        extras.fill(&mut payload);
        Draft::new(payload)
    }
}
