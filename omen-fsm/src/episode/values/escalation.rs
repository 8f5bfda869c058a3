//! Options for a human to decide between (E5, INV-009).

use omen_types::{EscalationOption, EscalationPayload, EscalationTrigger, EvidenceGap, NextStep, Text};

use super::super::draft::Draft;

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
    pub next_step: Recommendation,
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
pub struct Recommendation {
    /// What to do.
    pub step: Text,
    /// Why.
    pub rationale: String,
}

impl<const O: usize, const G: usize> Escalation<O, G> {
    /// The same, with a method for each member that the literal does not have.
    pub fn full(self) -> FullEscalation<O, G> {
        let options = self.options.into_iter().map(|choice| {
            EscalationOption::builder()
                .option_id(choice.id)
                .description(choice.description)
                .pros(choice.pros)
                .cons(choice.cons)
                .build()
        });
        let gaps = self
            .gaps
            .into_iter()
            .map(|gap| EvidenceGap::builder().gap(gap.gap).impact_if_unknown(gap.impact_if_unknown).build());
        let next_step = NextStep::builder().step(self.next_step.step).rationale(self.next_step.rationale).build();
        let payload = EscalationPayload::builder()
            .escalation_trigger(self.trigger)
            .top_options(options.collect())
            .evidence_gaps(gaps.collect())
            .recommended_next_step(next_step)
            .unchecked();
        FullEscalation { payload }
    }
}

/// An escalation with members that the literal of [`Escalation`] does not have.
#[must_use = "it is sent with `.escalate(..)`"]
#[derive(Clone, Debug)]
pub struct FullEscalation<const O: usize, const G: usize> {
    pub(super) payload: EscalationPayload,
}

/// What `.escalate(..)` takes: an [`Escalation`], a [`FullEscalation`], or a generated [`EscalationPayload`]. How many
/// options and gaps the first two have, the compiler counts. A payload's its builder counts when it is made, and the
/// machine when it is sent.
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

// No type counts what a payload lists, so the numbers here are the least that E5 allows.
impl Escalates<2, 1> for EscalationPayload {
    fn full(self) -> FullEscalation<2, 1> {
        FullEscalation { payload: self }
    }
}

impl<const O: usize, const G: usize> FullEscalation<O, G> {
    /// The risks of the options, one each, in their order.
    pub fn risk_summaries(mut self, risks: [impl Into<String>; O]) -> Self {
        for (option, risk) in self.payload.top_options.iter_mut().zip(risks) {
            option.risk_summary = Some(risk.into());
        }
        self
    }

    /// How each gap in the evidence could be closed, in their order.
    pub fn verification_methods(mut self, methods: [impl Into<String>; G]) -> Self {
        for (gap, method) in self.payload.evidence_gaps.iter_mut().zip(methods) {
            gap.verification_method = Some(method.into());
        }
        self
    }

    pub(crate) fn draft(self) -> Draft {
        Draft::new(self.payload)
    }
}
