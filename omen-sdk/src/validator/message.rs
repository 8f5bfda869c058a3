//! Messages: packets that arrive one by one with their own numbers, for example from a queue.

use omen_types::limits::MAX_LINE_BYTES;
use omen_types::{Diagnostic, Rejected};

use super::Validator;
use super::judged::{JudgedLine, stage};
use super::line::ParsedLine;
use super::root_cause::Follows;
use super::sink::Sink;
use crate::lines::whole;

/// Packet that is not a line in a byte stream, after its first two checks: JSON and schema.
///
/// ```
/// use omen::validator::{Message, Validator, ValidatorOptions};
/// use omen::Finding;
///
/// let mut findings: Vec<Finding> = Vec::new();
/// let mut validator = Validator::new(ValidatorOptions::default());
/// let log = omen_schema::example("invalid/e1-decision-before-belief.jsonl").unwrap_or_default();
/// // Every tenth message of a queue is of this episode.
/// for (number, packet) in (10..).step_by(10).zip(log.lines()) {
///     let message = Message::new(packet.as_bytes());
///     assert!(message.correlation_id().is_some_and(|id| id.starts_with("corr_")));
///     let Ok(()) = validator.message(number, &message, &mut findings);
/// }
/// assert_eq!(findings[0].line, Some(20));
/// ```
#[derive(Debug)]
pub struct Message<'m>(Option<ParsedLine<'m>>);

impl<'m> Message<'m> {
    /// Checks the bytes of a message, which is one packet with or without a line end.
    #[must_use]
    pub fn new(bytes: &'m [u8]) -> Self {
        Self(ParsedLine::new(whole(bytes.strip_suffix(b"\n").unwrap_or(bytes), MAX_LINE_BYTES)))
    }

    /// Sets the episode of a message that names none but was received with packets of that episode, so it counts as a
    /// lost packet of only this episode. Has no effect on a message that names an episode.
    #[must_use]
    pub fn of_episode(mut self, correlation_id: &str) -> Self {
        if let Some(rejected) = self.0.as_mut().and_then(|parsed| parsed.rejected.as_mut()) {
            rejected.claims.correlation_id.get_or_insert_with(|| correlation_id.to_owned());
        }
        self
    }

    /// Returns whether the message contains only white space. A validator skips it like a blank line.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the episode that the message names, even if the message is not a valid packet. Without one, it may have
    /// been a packet of any episode.
    #[must_use]
    pub fn correlation_id(&self) -> Option<&str> {
        self.0.as_ref().and_then(ParsedLine::correlation_id)
    }
}

impl Validator {
    /// Checks a message as the line `number` of a stream: findings have this number as their line. Numbers must
    /// increase, but may have gaps. Unlike [`feed`](Self::feed), this method does not examine the format of the stream:
    /// a message in another format causes one finding.
    ///
    /// # Errors
    /// The first error of the sink.
    pub fn message<S: Sink + ?Sized>(
        &mut self,
        number: u64,
        message: &Message<'_>,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        self.judge.tally.line = number;
        match &message.0 {
            Some(parsed) => self.judge.judge(parsed, None, sink),
            None => Ok(()),
        }
    }

    /// Reports that messages before the message `number` are missing, as one broken line that names no episode: each
    /// may have been a packet of any episode (D55). `why` must be an error.
    ///
    /// # Errors
    /// The first error of the sink.
    pub fn missing<S: Sink + ?Sized>(&mut self, number: u64, why: Diagnostic, sink: &mut S) -> Result<(), S::Error> {
        self.judge.tally.line = number;
        let rejected = Rejected { errors: vec![why], ..Rejected::default() };
        self.judge.judge(&ParsedLine { rejected: Some(Box::new(rejected)), ..ParsedLine::default() }, None, sink)
    }

    /// Rejects a message for a reason outside its content, such as its origin, and reports the reason. Its episode does
    /// not change (D1).
    ///
    /// # Errors
    /// The first error of the sink.
    pub fn refuse<S: Sink + ?Sized>(
        &mut self,
        number: u64,
        message: &Message<'_>,
        why: Diagnostic,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        self.judge.tally.line = number;
        let Some(parsed) = &message.0 else { return Ok(()) };
        let mut judged = JudgedLine { text: parsed.text.clone(), ..JudgedLine::default() };
        match (&parsed.facts, &parsed.rejected) {
            (Some(facts), _) => {
                judged.packet_type = Some(facts.payload.packet_type());
                judged.packet_id = Some(facts.header.packet_id.clone());
                judged.correlation_id = Some(facts.header.correlation_id.clone());
            }
            (None, Some(rejected)) => {
                let claims = rejected.claims.clone();
                judged.packet_type = claims.packet_type;
                judged.packet_id = claims.packet_id.map(Into::into);
                judged.correlation_id = claims.correlation_id.map(Into::into);
            }
            (None, None) => {}
        }
        let judged = judged.with(std::iter::once((stage(&why), why)), &Follows::Nothing);
        self.judge.tally.packet(judged, sink)
    }
}
