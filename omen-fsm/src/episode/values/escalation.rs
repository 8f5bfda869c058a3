//! Escalations: options for a human to choose from (E5, INV-009).

use omen_types::{EscalationOption, EscalationPayload, EscalationTrigger, EvidenceGap, NextStep, Text};

use super::super::draft::Draft;

/// Escalation with `O` options and `G` gaps in the evidence. It does not compile if a field is missing, if there is
/// no gap, or if the number of options is not two or three.
#[must_use = "it is sent with `.escalate(..)`"]
#[derive(Clone, Debug)]
pub struct Escalation<const O: usize, const G: usize> {
    /// Reason why a human must decide.
    pub trigger: EscalationTrigger,
    /// Options to choose from.
    pub options: [Choice; O],
    /// Gaps in the evidence.
    pub gaps: [Gap; G],
    /// Recommended next step.
    pub next_step: Recommendation,
}

/// Option for the human.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Id, which the human may give as the answer.
    pub id: String,
    /// Description of the option.
    pub description: String,
    /// Advantages.
    pub pros: Vec<String>,
    /// Disadvantages.
    pub cons: Vec<String>,
}

/// Gap in the evidence.
#[derive(Clone, Debug)]
pub struct Gap {
    /// Description of what is unknown.
    pub gap: String,
    /// Impact if the gap remains.
    pub impact_if_unknown: String,
}

/// Recommended next step.
#[derive(Clone, Debug)]
pub struct Recommendation {
    /// Step to take.
    pub step: Text,
    /// Reason for the step.
    pub rationale: String,
}

impl<const O: usize, const G: usize> Escalation<O, G> {
    /// Returns the escalation with a setter for each optional field.
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

/// Escalation with setters for the optional fields that the literal of [`Escalation`] lacks.
#[must_use = "it is sent with `.escalate(..)`"]
#[derive(Clone, Debug)]
pub struct FullEscalation<const O: usize, const G: usize> {
    pub(super) payload: EscalationPayload,
}

/// Parameter of `.escalate(..)`: an [`Escalation`], a [`FullEscalation`], or a generated [`EscalationPayload`]. The compiler
/// counts the options and gaps of the first two. Those of a payload are counted when it is built and again when it is sent.
pub trait Escalates<const O: usize, const G: usize> {
    /// Returns the escalation with its optional fields.
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

// The type of a payload does not state the lengths of its lists, so these numbers are the minimum of E5.
impl Escalates<2, 1> for EscalationPayload {
    fn full(self) -> FullEscalation<2, 1> {
        FullEscalation { payload: self }
    }
}

impl<const O: usize, const G: usize> FullEscalation<O, G> {
    /// Sets the risk of each option, in order.
    pub fn risk_summaries(mut self, risks: [impl Into<String>; O]) -> Self {
        for (option, risk) in self.payload.top_options.iter_mut().zip(risks) {
            option.risk_summary = Some(risk.into());
        }
        self
    }

    /// Sets the method that could close each gap in the evidence, in order.
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
