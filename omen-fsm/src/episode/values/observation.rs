//! What was seen, and what a human answered.

use std::marker::PhantomData;

use omen_invariants::facts::{EpistemicStatusFact, NeedsNoEvidence, Observed};
use omen_types::{EpistemicStatus, LayerNumber, LayerSource, ObservationPayload, ObservationType, Text};

use super::super::draft::Draft;
use super::fields::flatten_map;
use super::{Fields, Layer1Order};

/// Something seen; `St` says how it is known.
#[must_use = "it is taken in with `.observe(..)`"]
#[derive(Clone, Debug)]
pub struct Observation<St> {
    pub(super) payload: ObservationPayload,
    status: PhantomData<St>,
}

impl<St: EpistemicStatusFact + NeedsNoEvidence> Observation<St> {
    /// Of any sort.
    pub fn new(_status: St, kind: ObservationType, data: Fields) -> Self {
        let payload = ObservationPayload::builder().observation_type(kind).data(data.into_map()).unchecked();
        Self { payload, status: PhantomData }
    }

    /// The output of a tool.
    pub fn tool_output(status: St, tool: impl Into<String>, data: Fields) -> Self {
        let mut observation = Self::new(status, ObservationType::ToolOutput, data);
        observation.payload.source_tool = Some(tool.into());
        observation
    }

    /// Something a human said of their own accord.
    pub fn user_input(status: St, data: Fields) -> Self {
        Self::new(status, ObservationType::UserInput, data)
    }

    /// The parameters that were used to get it.
    pub fn queried(mut self, params: Fields) -> Self {
        self.payload.query_params = Some(params.into_map());
        self
    }
}

impl<St: EpistemicStatusFact + NeedsNoEvidence> Observation<St> {
    /// What a generated payload says, known as the status says. A payload that was seen, with status OBSERVED, is given
    /// to `.observe(..)` as it is.
    pub fn stating(_status: St, payload: ObservationPayload) -> Self {
        Self { payload: fitting(payload), status: PhantomData }
    }
}

/// What was seen, in the words of the schema: with status OBSERVED.
impl From<ObservationPayload> for Observation<Observed> {
    fn from(payload: ObservationPayload) -> Self {
        Self::stating(Observed, payload)
    }
}

/// A free-form value that is nested deeper than a packet may be becomes its JSON text.
fn fitting(mut payload: ObservationPayload) -> ObservationPayload {
    flatten_map(&mut payload.data);
    payload.query_params.iter_mut().for_each(flatten_map);
    payload
}

impl<St: EpistemicStatusFact> Observation<St> {
    // INVARIANT: whoever made it has shown that the status needs no evidence (INV-004).
    pub(crate) fn draft(self) -> Draft {
        Draft { payload: self.payload.into(), status: Some(St::VALUE), layer: None }
    }
}

/// A human's answer to an escalation (D8).
#[must_use = "it is taken in with `.answered(..)`"]
#[derive(Clone, Debug)]
pub struct Answer {
    pub(super) payload: ObservationPayload,
    /// The layer that it comes from, if not the one that sends observations.
    layer: Option<LayerSource>,
}

impl Answer {
    /// In words.
    pub fn text(answer: &Text) -> Self {
        Self::data(crate::fields!({ "answer": answer }))
    }

    /// As data, such as the id of the option that was chosen.
    pub fn data(data: Fields) -> Self {
        let payload = ObservationPayload::builder()
            .observation_type(ObservationType::UserInput)
            .data(data.into_map())
            .unchecked();
        Self { payload, layer: None }
    }

    /// An order of layer 1 that overrides the escalation: its reason, as an input that comes from layer 1 (D71). The
    /// decision that carries it out comes next.
    pub fn order(order: Layer1Order) -> Self {
        Self { layer: Some(LayerSource::LayerNumber(LayerNumber::MIN)), ..Self::text(order.reason()) }
    }

    /// What a generated payload says. It is a user input; one of another type is no answer, and the step that takes it
    /// keeps that as its trouble (see [`Episode::trouble`](crate::episode::Episode::trouble)).
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
