//! Measures of validation, which alternate.

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::time::Instant;

use jsonschema::Validator;
use omen::{Finding, Sink, Summary};
use omen_types::{Packet, PacketFacts};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::Samples;
use super::corpus::{Corpus, Form, faults};
use crate::Failure;
use crate::referee::schemas::Schemas;

/// Measured quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Measure {
    Skip,
    Typed,
    Parse,
    Verdict,
    TwoThreads,
    ShuffledSkip,
    ShuffledVerdict,
    SpacedSkip,
    SpacedVerdict,
    FaultyVerdict,
    JsonSchema,
    Value,
}

impl Measure {
    /// The two measures of a ratio are adjacent.
    const ALL: [Self; 12] = [
        Self::Typed,
        Self::Parse,
        Self::Skip,
        Self::Verdict,
        Self::TwoThreads,
        Self::FaultyVerdict,
        Self::ShuffledSkip,
        Self::ShuffledVerdict,
        Self::SpacedSkip,
        Self::SpacedVerdict,
        Self::JsonSchema,
        Self::Value,
    ];
}

/// Measured logs: the same packets in several forms.
pub(super) struct Logs {
    pub(super) compact: Corpus,
    shuffled: Corpus,
    spaced: Corpus,
    faulty: Corpus,
    /// Lines for JSON Schema, which would take too long for all lines.
    sample: Vec<u8>,
    /// Number of rejected packets in the faulty log.
    rejected: u64,
}

impl Logs {
    /// # Errors
    /// If the logs are not as expected.
    pub(super) fn generate(seed: u64, episodes: u64) -> Result<Self, Failure> {
        let [compact, shuffled, spaced] =
            [Form::Compact, Form::Shuffled, Form::Python].map(|form| Corpus::generate(seed, episodes, form));
        [&compact, &shuffled, &spaced].into_iter().try_for_each(clean)?;
        let faulty = faults::faulty(&compact, seed, faults::TENTH);
        let rejected = rejected(&faulty)?;
        let sample = lines(&compact.bytes).step_by(SAMPLED).flat_map(|line| [line, b"\n"].concat()).collect();
        Ok(Self { compact, shuffled, spaced, faulty, sample, rejected })
    }

    fn bytes(&self, measure: Measure) -> &[u8] {
        match measure {
            Measure::ShuffledSkip | Measure::ShuffledVerdict => &self.shuffled.bytes,
            Measure::SpacedSkip | Measure::SpacedVerdict => &self.spaced.bytes,
            Measure::FaultyVerdict => &self.faulty.bytes,
            Measure::JsonSchema => &self.sample,
            _ => &self.compact.bytes,
        }
    }
}

/// Takes each measure once per round: speeds in MB/s.
pub(super) fn speeds(logs: &Logs, rounds: u32) -> Result<Samples<Measure>, Failure> {
    let schemas = Schemas::as_shipped()?;
    let mut speeds = Samples::default();
    for _ in 0..rounds {
        for measure in Measure::ALL {
            let bytes = logs.bytes(measure);
            let begun = Instant::now();
            let refused = measure.run(bytes, &schemas);
            let seconds = begun.elapsed().as_secs_f64();
            let expected = if measure == Measure::FaultyVerdict { logs.rejected } else { 0 };
            if refused != expected {
                return Err(format!("{measure:?} refuses {refused} packets instead of {expected}").into());
            }
            speeds.add(measure, bytes.len() as f64 / 1e6 / seconds);
        }
    }
    Ok(speeds)
}

impl Measure {
    /// Returns the number of refused packets. Counting them keeps the optimizer from removing the work.
    fn run(self, bytes: &[u8], schemas: &Validator) -> u64 {
        let refused = |accepts: &dyn Fn(&[u8]) -> bool| lines(bytes).filter(|line| !accepts(line)).count() as u64;
        match self {
            Self::Skip | Self::ShuffledSkip | Self::SpacedSkip => skip(bytes),
            Self::Typed => refused(&|line| {
                let text = std::str::from_utf8(line).unwrap_or_default();
                black_box(text.parse::<Packet>()).is_ok()
            }),
            Self::Parse => refused(&|line| {
                let text = std::str::from_utf8(line).unwrap_or_default();
                black_box(PacketFacts::parse(text)).is_ok()
            }),
            Self::Value => refused(&|line| black_box(serde_json::from_slice::<Value>(line)).is_ok()),
            Self::JsonSchema => {
                refused(&|line| serde_json::from_slice(line).is_ok_and(|value| black_box(schemas.is_valid(&value))))
            }
            Self::Verdict | Self::ShuffledVerdict | Self::SpacedVerdict | Self::FaultyVerdict => {
                let mut validator = omen::Validator::new(omen::ValidatorOptions::default());
                let Ok(()) = validator.feed(bytes, &mut Nowhere);
                let Ok(summary) = validator.finish(&mut Nowhere);
                summary.rejected
            }
            Self::TwoThreads => {
                let mut validator = omen::ParallelValidator::new(omen::ValidatorOptions::default(), TWO);
                let Ok(()) = validator.feed(bytes, &mut Nowhere);
                let Ok(summary) = validator.finish(&mut Nowhere);
                summary.rejected
            }
        }
    }
}

const TWO: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1);

/// Skips each line; returns the number of lines that are not JSON.
pub(super) fn skip(bytes: &[u8]) -> u64 {
    lines(bytes).filter(|line| black_box(serde_json::from_slice::<IgnoredAny>(line)).is_err()).count() as u64
}

/// Sink that drops findings; the validator counts them.
pub(super) struct Nowhere;

impl Sink for Nowhere {
    type Error = std::convert::Infallible;

    fn finding(&mut self, finding: Finding, _: Option<&str>) -> Result<(), Self::Error> {
        black_box(finding);
        Ok(())
    }

    fn wants_packets(&self) -> bool {
        false
    }
}

pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut begin = 0;
    memchr::memchr_iter(b'\n', bytes).map(move |end| {
        let line = bytes.get(begin..end).unwrap_or_default();
        begin = end + 1;
        line
    })
}

/// One line in this many is in the sample.
const SAMPLED: usize = 20;

/// Validates a log and keeps the findings.
fn judge(corpus: &Corpus) -> (Summary, Vec<Finding>) {
    let mut findings: Vec<Finding> = Vec::new();
    let mut validator = omen::Validator::new(omen::ValidatorOptions::default());
    let Ok(()) = validator.feed(&corpus.bytes, &mut findings);
    let Ok(summary) = validator.finish(&mut findings);
    (summary, findings)
}

/// Checks that a corpus is as expected: clean logs with hardly any warnings.
///
/// # Errors
/// If there is an error, or more than one warning per hundred packets.
fn clean(corpus: &Corpus) -> Result<(), Failure> {
    let (summary, findings) = judge(corpus);
    let as_made = summary.packets == corpus.packets && summary.episodes == corpus.episodes;
    if as_made && summary.errors == 0 && summary.warnings * 100 <= summary.packets {
        return Ok(());
    }
    let first: Vec<_> =
        findings.iter().take(3).map(|finding| format!("{:?}: {}", finding.line, finding.diagnostic)).collect();
    Err(format!("the corpus is not clean: {summary:?}\n{}", first.join("\n")).into())
}

/// Returns the number of rejected packets in the faulty log.
///
/// # Errors
/// If it is not about a tenth of all packets.
fn rejected(corpus: &Corpus) -> Result<u64, Failure> {
    let (summary, _) = judge(corpus);
    let is_tenth = (summary.packets * 8..summary.packets * 12).contains(&(summary.rejected * 100));
    if is_tenth && summary.packets == corpus.packets {
        return Ok(summary.rejected);
    }
    Err(format!("about a tenth of the packets should be rejected: {summary:?}").into())
}
