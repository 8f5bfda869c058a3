//! Observations and human answers.

use std::marker::PhantomData;

use omen_invariants::facts::{EpistemicStatusFact, NeedsNoEvidence, Observed};
use omen_types::{EpistemicStatus, LayerNumber, LayerSource, ObservationPayload, ObservationType, Text};

use super::super::draft::Draft;
use super::fields::flatten_map;
use super::{Fields, Layer1Order};

/// Observation; `St` is its epistemic status.
#[must_use = "it is taken in with `.observe(..)`"]
#[derive(Clone, Debug)]
pub struct Observation<St> {
    pub(super) payload: ObservationPayload,
    status: PhantomData<St>,
}

impl<St: EpistemicStatusFact + NeedsNoEvidence> Observation<St> {
    /// Creates an observation of any type.
    pub fn new(_status: St, kind: ObservationType, data: Fields) -> Self {
        let payload = ObservationPayload::builder().observation_type(kind).data(data.into_map()).unchecked();
        Self { payload, status: PhantomData }
    }

    /// Creates an observation of a tool's output.
    pub fn tool_output(status: St, tool: impl Into<String>, data: Fields) -> Self {
        let mut observation = Self::new(status, ObservationType::ToolOutput, data);
        observation.payload.source_tool = Some(tool.into());
        observation
    }

    /// Creates an observation of user input, other than the answer to an escalation.
    pub fn user_input(status: St, data: Fields) -> Self {
        Self::new(status, ObservationType::UserInput, data)
    }

    /// Sets the parameters of the query that produced the observation.
    pub fn queried(mut self, params: Fields) -> Self {
        self.payload.query_params = Some(params.into_map());
        self
    }
}

impl<St: EpistemicStatusFact + NeedsNoEvidence> Observation<St> {
    /// Creates an observation from a generated payload, with a status. `.observe(..)` also accepts the payload itself,
    /// with status OBSERVED.
    pub fn stating(_status: St, payload: ObservationPayload) -> Self {
        Self { payload: fitting(payload), status: PhantomData }
    }
}

/// Converts a generated payload, with status OBSERVED.
impl From<ObservationPayload> for Observation<Observed> {
    fn from(payload: ObservationPayload) -> Self {
        Self::stating(Observed, payload)
    }
}

/// Replaces free-form values that are nested too deeply for a packet by their JSON text.
fn fitting(mut payload: ObservationPayload) -> ObservationPayload {
    flatten_map(&mut payload.data);
    payload.query_params.iter_mut().for_each(flatten_map);
    payload
}

impl<St: EpistemicStatusFact> Observation<St> {
    // INVARIANT: every constructor requires a status that needs no evidence (INV-004).
    pub(crate) fn draft(self) -> Draft {
        Draft { payload: self.payload.into(), status: Some(St::VALUE), layer: None }
    }
}

/// A human's answer to an escalation (D8).
#[must_use = "it is taken in with `.answered(..)`"]
#[derive(Clone, Debug)]
pub struct Answer {
    pub(super) payload: ObservationPayload,
    /// Layer of origin, if it differs from the usual sender of observations.
    layer: Option<LayerSource>,
}

impl Answer {
    /// Creates an answer in words.
    pub fn text(answer: &Text) -> Self {
        Self::data(crate::fields!({ "answer": answer }))
    }

    /// Creates an answer as data, such as the id of the chosen option.
    pub fn data(data: Fields) -> Self {
        let payload = ObservationPayload::builder()
            .observation_type(ObservationType::UserInput)
            .data(data.into_map())
            .unchecked();
        Self { payload, layer: None }
    }

    /// Creates an answer with which layer 1 overrides the escalation: the reason of the order, sent from layer 1
    /// (D71). The decision that carries out the order comes next.
    pub fn order(order: Layer1Order) -> Self {
        Self { layer: Some(LayerSource::LayerNumber(LayerNumber::MIN)), ..Self::text(order.reason()) }
    }

    /// Creates an answer from a generated payload, which must be a user input. A payload of another type is not
    /// written; the error is kept as trouble (see [`Episode::trouble`](crate::episode::Episode::trouble)).
    pub fn stating(payload: ObservationPayload) -> Self {
        Self { payload: fitting(payload), layer: None }
    }

    pub(crate) fn draft(self) -> Draft {
        Draft { payload: self.payload.into(), status: Some(EpistemicStatus::Observed), layer: self.layer }
    }
}

impl From<ObservationPayload> for Answer {
    fn from(payload: ObservationPayload) -> Self {
        Self::stating(payload)
    }
}
