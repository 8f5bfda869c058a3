//! State of a partition, and its findings: a function of the messages of the stream alone.

use std::convert::Infallible;

use omen::finding::{Code, Diagnostic, Finding, Severity};
use omen::validator::{BadSnapshot, Message, Sink, Validator, ValidatorOptions, misplaced};
use serde::{Deserialize, Serialize};

use super::idle::Idle;
use super::truncate;
use crate::names;
use crate::stream::broker::StoredMessage;

/// A message of the stream, reduced to what judging needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IncomingMessage<'m> {
    /// Number of the message in the stream.
    pub(crate) sequence: u64,
    /// Time at which the server stored it, in milliseconds since 1970.
    pub(crate) time: i64,
    pub(crate) kind: MessageKind<'m>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum MessageKind<'m> {
    /// A packet of an episode, which may be the episode's last. A blank body is not a packet.
    Packet { subject: &'m str, token: &'m str, body: &'m [u8], is_last: bool },
    /// A line that names no episode. All partitions receive it, and the first one reports it.
    Lost { body: &'m [u8] },
    /// A time mark, at which idle episodes end.
    Tick { body: &'m [u8] },
    /// A message that is not judged, such as a note of `omen publish`.
    Other,
}

impl<'m> IncomingMessage<'m> {
    /// Classifies a message of the stream by its subject.
    pub(crate) fn from_stored(message: &'m StoredMessage) -> Self {
        let StoredMessage { subject, headers, body, sequence, time } = message;
        let kind = match subject.strip_prefix(names::PACKETS).and_then(|rest| rest.rsplit_once('.')) {
            Some((_, token)) => {
                MessageKind::Packet { subject, token, body, is_last: headers.get(names::END_HEADER).is_some() }
            }
            None => match subject.strip_prefix(names::MARKS).and_then(|rest| rest.rsplit_once('.')) {
                Some((_, names::LOST)) => MessageKind::Lost { body },
                Some((_, names::TICK)) => MessageKind::Tick { body },
                _ => MessageKind::Other,
            },
        };
        Self { sequence: *sequence, time: *time, kind }
    }
}

/// Content of a time mark.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Tick {
    /// Seconds without a message after which an episode ends.
    pub(crate) idle_seconds: Option<u64>,
}

/// A finding for publication.
#[derive(Clone, Debug)]
pub(crate) struct OutgoingFinding {
    /// Number of the message that the finding is about.
    pub(crate) sequence: u64,
    /// Index of the finding among those of the message.
    pub(crate) ordinal: u64,
    pub(crate) severity: Severity,
    pub(crate) code: Code,
    /// The finding as a line of JSON, without its line end.
    pub(crate) body: Vec<u8>,
}

/// A message that identifies a stream: another stream with the same name would have stored its message of this number at another
/// time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct KnownMessage {
    /// Number of the message in the stream.
    pub(crate) sequence: u64,
    /// Time at which the server stored it, in milliseconds since 1970.
    pub(crate) time: i64,
}

/// The judge of a partition: the validator and the times of open episodes.
#[derive(Debug)]
pub(crate) struct Judge {
    stream: String,
    partition: u16,
    partitions: u16,
    /// Number of the last message that was judged.
    pub(crate) sequence: u64,
    /// The last message that was judged.
    pub(crate) seen: Option<KnownMessage>,
    idle: Idle,
    validator: Validator,
}

/// First line of a checkpoint. The list of episodes and a snapshot of the validator follow.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct First {
    sequence: u64,
    seen: Option<KnownMessage>,
    /// Size of the list of episodes in bytes.
    idle: usize,
}

impl Judge {
    pub(crate) fn new(stream: &str, (partition, partitions): (u16, u16), options: ValidatorOptions) -> Self {
        Self {
            stream: stream.to_owned(),
            partition,
            partitions,
            sequence: 0,
            seen: None,
            idle: Idle::default(),
            // One worker may own all partitions.
            validator: Validator::new(options).one_of(partitions.into()),
        }
    }

    /// Returns the number of open episodes.
    pub(crate) fn episodes(&self) -> usize {
        self.idle.len()
    }

    /// Judges the next message of the stream. Any numbers skipped before it were deleted.
    pub(crate) fn take(&mut self, arrived: IncomingMessage<'_>, out: &mut Vec<OutgoingFinding>) {
        let IncomingMessage { sequence, time, kind } = arrived;
        let mut found = FindingSink(Vec::new());
        if sequence > self.sequence + 1 {
            let why = Diagnostic::error(Code::Json, deleted(&self.stream, self.sequence + 1, sequence - 1))
                .help("keep packets until they are judged: raise the limits of the stream");
            let Ok(()) = self.validator.missing(sequence - 1, why, &mut found);
        }
        match kind {
            MessageKind::Packet { subject, token, body, is_last } => {
                self.packet(sequence, time, (subject, token), body, &mut found);
                if is_last && let Some(id) = self.idle.end(token) {
                    let Ok(_) = self.validator.end_episode(&id, &mut found);
                }
            }
            MessageKind::Lost { body } => {
                let message = Message::new(body);
                if let Some(id) = message.correlation_id() {
                    // A packet that names its episode must be on the subject of that episode.
                    let (found_at, expected) =
                        (names::mark(self.partition, names::LOST), names::packets_of(id, self.partitions));
                    let Ok(()) = self.validator.refuse(sequence, &message, misplaced(&found_at, &expected), &mut found);
                } else {
                    let before = found.0.len();
                    let Ok(()) = self.validator.message(sequence, &message, &mut found);
                    if self.partition != 0 {
                        found.0.truncate(before);
                    }
                }
            }
            MessageKind::Tick { body } => {
                if let Ok(Tick { idle_seconds: Some(seconds) }) = serde_json::from_slice(body) {
                    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
                    for id in self.idle.since(time.saturating_sub(seconds.saturating_mul(1000))) {
                        let Ok(_) = self.validator.end_episode(&id, &mut found);
                    }
                }
            }
            MessageKind::Other => {}
        }
        self.sequence = sequence;
        self.seen = Some(KnownMessage { sequence, time });
        out.extend(found.0.into_iter().zip(0..).map(|(finding, ordinal)| self.reported(finding, ordinal)));
    }

    fn packet(
        &mut self,
        sequence: u64,
        time: i64,
        (subject, token): (&str, &str),
        body: &[u8],
        found: &mut FindingSink,
    ) {
        let mut message = Message::new(body);
        // A packet without a valid id belongs to the episode of its subject, if the subject contains the whole id.
        if token.parse::<omen::CorrelationId>().is_ok() {
            message = message.of_episode(token);
        }
        let Ok(()) = match message.correlation_id() {
            Some(id) if (id != token && names::token(id) != token) || self.is_elsewhere(id) => {
                let expected = names::packets_of(id, self.partitions);
                self.validator.refuse(sequence, &message, misplaced(subject, &expected), found)
            }
            Some(id) => {
                self.idle.message(id, time);
                self.validator.message(sequence, &message, found)
            }
            None => self.validator.message(sequence, &message, found),
        };
    }

    /// Returns whether an episode belongs to another partition. Judged in two partitions, it would be split.
    fn is_elsewhere(&self, id: &str) -> bool {
        names::partition_of(id, self.partitions) != self.partition
    }

    fn reported(&self, mut finding: Finding, ordinal: u64) -> OutgoingFinding {
        // The validator counts the packets of this partition, but readers know the numbers of messages.
        finding.packet_index = finding.packet_index.and_then(|_| finding.line?.checked_sub(1));
        let (severity, code) = (finding.diagnostic.severity, finding.diagnostic.code);
        OutgoingFinding {
            sequence: self.sequence,
            ordinal,
            severity,
            code,
            body: truncate::json(&self.stream, finding),
        }
    }

    /// Returns the whole state as bytes.
    pub(crate) fn snapshot(&mut self) -> Vec<u8> {
        let mut idle = Vec::new();
        self.idle.write(&mut idle);
        let first = First { sequence: self.sequence, seen: self.seen, idle: idle.len() };
        let mut bytes = serde_json::to_vec(&first).unwrap_or_default();
        bytes.push(b'\n');
        bytes.extend(idle);
        bytes.extend(self.validator.snapshot());
        bytes
    }

    /// Restores the state from the bytes that [`snapshot`](Self::snapshot) has returned.
    pub(crate) fn restore(
        stream: &str,
        (partition, partitions): (u16, u16),
        bytes: &[u8],
        options: ValidatorOptions,
    ) -> Result<Self, BadSnapshot> {
        let mut parts = bytes.splitn(2, |byte| *byte == b'\n');
        let first = parts.next().and_then(|line| serde_json::from_slice::<First>(line).ok());
        let (Some(First { sequence, seen, idle }), Some(rest)) = (first, parts.next()) else {
            return Err(BadSnapshot::Damaged);
        };
        let (idle, validator) = rest.split_at_checked(idle).ok_or(BadSnapshot::Damaged)?;
        let idle = std::str::from_utf8(idle).ok().and_then(Idle::read).ok_or(BadSnapshot::Damaged)?;
        let validator = Validator::restore(validator, options)?.one_of(partitions.into());
        Ok(Self { stream: stream.to_owned(), partition, partitions, sequence, seen, idle, validator })
    }
}

/// Describes messages of a stream, from number `first` to `last`, that were deleted before they were judged.
pub(super) fn deleted(stream: &str, first: u64, last: u64) -> String {
    let what = match last - first {
        0 => format!("message {first} of `{stream}` was"),
        more => format!("{} messages of `{stream}`, {first} to {last}, were", more + 1),
    };
    format!("{what} deleted before being judged")
}

/// Sink for findings that ignores the lines that they are about.
struct FindingSink(Vec<Finding>);

impl Sink for FindingSink {
    type Error = Infallible;

    fn finding(&mut self, finding: Finding, _: Option<&str>) -> Result<(), Infallible> {
        self.0.push(finding);
        Ok(())
    }

    fn wants_packets(&self) -> bool {
        false
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const PLACES: (u16, u16) = (0, 1);

    fn judge() -> Judge {
        Judge::new("PACKETS", PLACES, ValidatorOptions::default())
    }

    /// Returns the messages of all examples in a folder, each in its own episode, followed by the ends of the episodes.
    fn messages(folder: &str) -> Vec<(String, Option<String>)> {
        let examples =
            omen_schema::EXAMPLES.iter().filter(|(path, _)| path.starts_with(folder) && path.ends_with(".jsonl"));
        let (mut messages, mut ends) = (Vec::new(), Vec::new());
        for (number, (_, log)) in examples.enumerate() {
            let id = format!("\"correlation_id\":\"corr_{number}_");
            for line in log.lines().map(|line| line.replace("\"correlation_id\":\"corr_", &id)) {
                let token = Message::new(line.as_bytes()).correlation_id().map(names::token);
                ends.extend(token.clone().map(|token| (token, None)));
                messages.push((token.unwrap_or_default(), Some(line)));
            }
        }
        messages.extend(ends);
        messages
    }

    fn take(judge: &mut Judge, sequence: u64, (token, line): &(String, Option<String>)) -> Vec<Vec<u8>> {
        let subject = &format!("omen.packets.0.{token}");
        let kind = match line {
            Some(line) if token.is_empty() => MessageKind::Lost { body: line.as_bytes() },
            Some(line) => MessageKind::Packet { subject, token, body: line.as_bytes(), is_last: false },
            None => MessageKind::Packet { subject, token, body: b"", is_last: true },
        };
        let mut out = Vec::new();
        judge.take(IncomingMessage { sequence, time: i64::try_from(sequence).unwrap(), kind }, &mut out);
        assert!(out.iter().zip(0..).all(|(found, ordinal)| (found.sequence, found.ordinal) == (sequence, ordinal)));
        out.into_iter().map(|found| found.body).collect()
    }

    #[test]
    fn a_partition_that_is_restored_anywhere_finds_the_same() {
        let messages = messages("invalid");
        let (mut whole, mut cut) = (judge(), judge());
        let mut found = 0;
        for (number, message) in (1..).zip(&messages) {
            if number % 7 == 0 {
                let bytes = cut.snapshot();
                cut = Judge::restore("PACKETS", PLACES, &bytes, ValidatorOptions::default()).unwrap();
                assert_eq!((cut.sequence, cut.seen, cut.episodes()), (whole.sequence, whole.seen, whole.episodes()));
            }
            let expected = take(&mut whole, number, message);
            assert_eq!(take(&mut cut, number, message), expected, "message {number}");
            found += expected.len() as u64;
        }
        let summary = whole.validator.summary();
        assert_eq!((found, whole.episodes()), (summary.errors + summary.warnings, 0));
        assert!(found > 100, "{found}");
    }

    #[test]
    fn a_damaged_checkpoint_is_refused() {
        let mut judge = judge();
        for (number, message) in (1..).zip(messages("valid").iter().take(60)) {
            take(&mut judge, number, message);
        }
        let bytes = judge.snapshot();
        for length in 0..bytes.len() {
            let cut = Judge::restore("PACKETS", PLACES, bytes.get(..length).unwrap(), ValidatorOptions::default());
            assert!(cut.is_err(), "{length} of {}", bytes.len());
        }
    }

    #[test]
    fn a_checkpoint_is_small() {
        let log = omen_schema::example("valid/read-only.jsonl").unwrap();
        let open: Vec<&str> = log.lines().take(4).collect();
        let mut judge = judge();
        let (mut number, mut bytes) = (0, 0);
        for episode in 0..2_000 {
            for line in &open {
                let line = line.replace("corr_support_invoice_4471", &format!("corr_support_invoice_{episode}"));
                number += 1;
                bytes += line.len();
                take(&mut judge, number, &(format!("corr_support_invoice_{episode}"), Some(line)));
            }
        }
        assert_eq!((judge.episodes(), judge.validator.summary().accepted), (2_000, number));
        let each = judge.snapshot().len() / 2_000;
        let of_packets = bytes / 2_000;
        // docs/scale.md states both figures.
        assert!((150..220).contains(&each), "{each} bytes an episode with {of_packets} bytes of packets");
    }
}
