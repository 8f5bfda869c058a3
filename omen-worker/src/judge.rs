//! What a partition remembers, and what it finds: a function of the messages of the stream, and of nothing else.

use std::convert::Infallible;

use omen::finding::{Code, Diagnostic, Finding};
use omen::validator::{BadSnapshot, Message, Sink, Summary, Validator, ValidatorOptions};
use serde::{Deserialize, Serialize};

use crate::help::schema as help;
use crate::idle::Idle;
use crate::{fit, names};

/// A message of the stream, as far as it matters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived<'m> {
    /// Its number in the stream.
    pub(crate) sequence: u64,
    /// When the server stored it, in milliseconds since 1970.
    pub(crate) time: i64,
    pub(crate) kind: Kind<'m>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind<'m> {
    /// A packet, on the subject of an episode.
    Packet { token: &'m str, body: &'m [u8] },
    /// A line that names no episode. All partitions read it, and one reports it.
    Lost { body: &'m [u8] },
    /// The end of an episode.
    End { token: &'m str },
    /// A mark of time: idle episodes end.
    Tick { body: &'m [u8] },
    /// On a subject that nothing else has.
    Other,
}

/// The content of a mark of time.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Tick {
    /// Episodes without a message in so many seconds end.
    pub(crate) idle_seconds: Option<u32>,
}

/// A finding that is to be published.
#[derive(Debug)]
pub(crate) struct Reported {
    /// The message that it is about.
    pub(crate) sequence: u64,
    /// Its place among the findings of that message.
    pub(crate) ordinal: u64,
    pub(crate) subject: String,
    pub(crate) body: Vec<u8>,
}

/// What was judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Counts {
    /// Messages that are not blank.
    pub(crate) packets: u64,
    /// Packets without an error.
    pub(crate) accepted: u64,
    /// Packets with one.
    pub(crate) rejected: u64,
    /// Findings that are errors.
    pub(crate) errors: u64,
    /// Findings that are warnings.
    pub(crate) warnings: u64,
}

impl Counts {
    fn add(&mut self, before: &Summary, after: &Summary) {
        self.packets += after.packets - before.packets;
        self.accepted += after.accepted - before.accepted;
        self.rejected += after.rejected - before.rejected;
        self.errors += after.errors - before.errors;
        self.warnings += after.warnings - before.warnings;
    }
}

/// A message that identifies a stream: another stream with the same name stored its message of this number at another time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct KnownMessage {
    /// Its number in the stream.
    pub(crate) sequence: u64,
    /// When the server stored it, in milliseconds since 1970.
    pub(crate) time: i64,
}

/// A partition that is judged.
#[derive(Debug)]
pub(crate) struct Judge {
    stream: String,
    partition: u16,
    partitions: u16,
    /// Up to this message, everything is judged.
    pub(crate) sequence: u64,
    /// The last message that was judged.
    pub(crate) seen: Option<KnownMessage>,
    pub(crate) counts: Counts,
    idle: Idle,
    validator: Validator,
}

/// The first line of a checkpoint. The episodes and a snapshot of the validator follow.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct First {
    sequence: u64,
    seen: Option<KnownMessage>,
    counts: Counts,
    /// Bytes of the list of episodes.
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
            counts: Counts::default(),
            idle: Idle::default(),
            // A worker may have all partitions.
            validator: Validator::new(options).one_of(partitions.into()),
        }
    }

    /// How many episodes are open.
    pub(crate) fn episodes(&self) -> usize {
        self.idle.len()
    }

    /// Judges the next message of the stream.
    pub(crate) fn take(&mut self, arrived: Arrived<'_>, out: &mut Vec<Reported>) {
        let Arrived { sequence, time, kind } = arrived;
        let before = self.validator.summary();
        let mut found = Found(Vec::new());
        let mut is_ours = true;
        match kind {
            Kind::Packet { token, body } => {
                let message = Message::new(body);
                let Ok(()) = match message.correlation_id().filter(|id| *id != token && names::token(id) != token) {
                    Some(id) => self.validator.refuse(sequence, &message, misplaced(id, token), &mut found),
                    None => {
                        if let Some(id) = message.correlation_id() {
                            self.idle.message(id, time);
                        }
                        self.validator.message(sequence, &message, &mut found)
                    }
                };
            }
            Kind::Lost { body } => {
                let message = Message::new(body);
                is_ours = sequence % u64::from(self.partitions) == u64::from(self.partition);
                // A packet that names its episode belongs to the subject of that one.
                let Ok(()) = match message.correlation_id() {
                    Some(id) if is_ours => {
                        self.validator.refuse(sequence, &message, misplaced(id, names::LOST), &mut found)
                    }
                    Some(_) => Ok(()),
                    None => self.validator.message(sequence, &message, &mut found),
                };
            }
            Kind::End { token } => {
                // An id that is too long for a subject has a hash there, and ends by idling.
                self.idle.end(token);
                let Ok(_) = self.validator.end_episode(token, &mut found);
            }
            Kind::Tick { body } => {
                if let Ok(Tick { idle_seconds: Some(idle_seconds) }) = serde_json::from_slice(body) {
                    for id in self.idle.since(time.saturating_sub(i64::from(idle_seconds) * 1000)) {
                        let Ok(_) = self.validator.end_episode(&id, &mut found);
                    }
                }
            }
            Kind::Other => {}
        }
        self.sequence = sequence;
        self.seen = Some(KnownMessage { sequence, time });
        if !is_ours {
            return;
        }
        self.counts.add(&before, &self.validator.summary());
        out.extend(found.0.into_iter().zip(0..).map(|(finding, ordinal)| self.reported(finding, ordinal)));
    }

    fn reported(&self, mut finding: Finding, ordinal: u64) -> Reported {
        // The validator counts the packets of this partition; a reader knows those of the stream.
        finding.packet_index = finding.packet_index.map(|_| self.sequence.saturating_sub(1));
        let (severity, code) = (finding.diagnostic.severity, finding.diagnostic.code);
        let subject = format!("{}.{}.{}", names::FINDINGS, severity.as_str(), code.as_str());
        Reported { sequence: self.sequence, ordinal, subject, body: fit::json(&self.stream, finding) }
    }

    /// Everything that is remembered, as bytes.
    pub(crate) fn snapshot(&mut self) -> Vec<u8> {
        let mut idle = Vec::new();
        self.idle.write(&mut idle);
        let first = First { sequence: self.sequence, seen: self.seen, counts: self.counts, idle: idle.len() };
        let mut bytes = serde_json::to_vec(&first).unwrap_or_default();
        bytes.push(b'\n');
        bytes.extend(idle);
        bytes.extend(self.validator.snapshot());
        bytes
    }

    /// What [`snapshot`](Self::snapshot) returned.
    pub(crate) fn restore(
        stream: &str,
        (partition, partitions): (u16, u16),
        bytes: &[u8],
        options: ValidatorOptions,
    ) -> Result<Self, BadSnapshot> {
        let mut parts = bytes.splitn(2, |byte| *byte == b'\n');
        let first = parts.next().and_then(|line| serde_json::from_slice::<First>(line).ok());
        let (Some(First { sequence, seen, counts, idle }), Some(rest)) = (first, parts.next()) else {
            return Err(BadSnapshot::Damaged);
        };
        let (idle, validator) = rest.split_at_checked(idle).ok_or(BadSnapshot::Damaged)?;
        let idle = std::str::from_utf8(idle).ok().and_then(Idle::read).ok_or(BadSnapshot::Damaged)?;
        let validator = Validator::restore(validator, options)?.one_of(partitions.into());
        Ok(Self { stream: stream.to_owned(), partition, partitions, sequence, seen, counts, idle, validator })
    }
}

/// A packet on the subject of another episode. The server maps subjects to partitions, so its episode would be torn apart.
fn misplaced(id: &str, found: &str) -> Diagnostic {
    let found = if found == names::LOST { found.to_owned() } else { format!("{}.{found}", names::PACKETS) };
    Diagnostic::error(Code::Schema, format!("`correlation_id` does not match the subject `{found}`"))
        .at("/header/correlation_id")
        .help(help::subject(names::packets_of(id)))
}

/// Findings, without the lines that they are about.
struct Found(Vec<Finding>);

impl Sink for Found {
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

    /// The messages of all examples of a kind, each in an episode of its own, then their ends.
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
        let kind = match line {
            Some(line) if token.is_empty() => Kind::Lost { body: line.as_bytes() },
            Some(line) => Kind::Packet { token, body: line.as_bytes() },
            None => Kind::End { token },
        };
        let mut out = Vec::new();
        judge.take(Arrived { sequence, time: i64::try_from(sequence).unwrap(), kind }, &mut out);
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
                assert_eq!(
                    (cut.sequence, cut.counts, cut.episodes()),
                    (whole.sequence, whole.counts, whole.episodes())
                );
            }
            let expected = take(&mut whole, number, message);
            assert_eq!(take(&mut cut, number, message), expected, "message {number}");
            found += expected.len() as u64;
        }
        assert_eq!((found, whole.episodes()), (whole.counts.errors + whole.counts.warnings, 0));
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
        assert_eq!((judge.episodes(), judge.counts.accepted), (2_000, number));
        let each = judge.snapshot().len() / 2_000;
        let of_packets = bytes / 2_000;
        // docs/scale.md states both.
        assert!((150..220).contains(&each), "{each} bytes an episode with {of_packets} bytes of packets");
    }
}
