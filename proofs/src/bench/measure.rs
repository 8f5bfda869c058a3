//! The measures of validation, which alternate.

use std::hint::black_box;
use std::time::Instant;

use jsonschema::Validator;
use omen::{Finding, Sink};
use omen_types::Packet;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::{Corpus, Failure, Samples};
use crate::referee::schemas::Schemas;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Measure {
    Skip,
    Typed,
    Verdict,
    ShuffledSkip,
    ShuffledVerdict,
    JsonSchema,
    Value,
}

impl Measure {
    const ALL: [Self; 7] = [
        Self::Skip,
        Self::Typed,
        Self::Verdict,
        Self::ShuffledSkip,
        Self::ShuffledVerdict,
        Self::JsonSchema,
        Self::Value,
    ];
}

/// Takes each measure once in every round: speeds in MB/s.
pub(super) fn speeds(corpus: &Corpus, shuffled: &Corpus, rounds: u32) -> Result<Samples<Measure>, Failure> {
    let schemas = Schemas::as_shipped()?;
    let sample = sample(&corpus.bytes);
    let mut speeds = Samples::default();
    for _ in 0..rounds {
        for measure in Measure::ALL {
            let bytes = match measure {
                Measure::ShuffledSkip | Measure::ShuffledVerdict => &shuffled.bytes,
                Measure::JsonSchema => &sample,
                _ => &corpus.bytes,
            };
            let begun = Instant::now();
            let refused = measure.run(bytes, &schemas);
            let seconds = begun.elapsed().as_secs_f64();
            if refused > 0 {
                return Err(format!("{measure:?} refuses {refused} packets of the corpus").into());
            }
            speeds.add(measure, bytes.len() as f64 / 1e6 / seconds);
        }
    }
    Ok(speeds)
}

impl Measure {
    /// The number of refused packets. It is zero, but counting it keeps the optimiser from removing the work.
    fn run(self, bytes: &[u8], schemas: &Validator) -> usize {
        let refused = |accepts: &dyn Fn(&[u8]) -> bool| lines(bytes).filter(|line| !accepts(line)).count();
        match self {
            Self::Skip | Self::ShuffledSkip => {
                refused(&|line| black_box(serde_json::from_slice::<IgnoredAny>(line)).is_ok())
            }
            Self::Typed => refused(&|line| {
                let text = std::str::from_utf8(line).unwrap_or_default();
                black_box(text.parse::<Packet>()).is_ok()
            }),
            Self::Value => refused(&|line| black_box(serde_json::from_slice::<Value>(line)).is_ok()),
            Self::JsonSchema => {
                refused(&|line| serde_json::from_slice(line).is_ok_and(|value| black_box(schemas.is_valid(&value))))
            }
            Self::Verdict | Self::ShuffledVerdict => {
                let mut sink = Nowhere;
                let mut validator = omen::Validator::new(omen::ValidatorOptions::default());
                validator.feed(bytes, &mut sink);
                let Ok(summary) = validator.finish(&mut sink);
                usize::try_from(summary.errors).unwrap_or(usize::MAX)
            }
        }
    }
}

/// Drops findings; the validator counts them.
struct Nowhere;

impl Sink for Nowhere {
    type Error = std::convert::Infallible;

    fn finding(&mut self, finding: Finding, _: Option<&str>) -> Result<(), Self::Error> {
        black_box(finding);
        Ok(())
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

/// A sample of the lines: JSON Schema would take too long for all.
fn sample(bytes: &[u8]) -> Vec<u8> {
    lines(bytes).step_by(SAMPLED).flat_map(|line| [line, b"\n"].concat()).collect()
}

/// One line of this many is in the sample.
const SAMPLED: usize = 20;

/// Checks that a corpus is what the benchmark is about: clean logs with hardly a warning.
///
/// # Errors
/// If there is an error, or more than one warning for a hundred packets.
pub(super) fn clean(corpus: &Corpus) -> Result<(), Failure> {
    let mut findings: Vec<Finding> = Vec::new();
    let mut validator = omen::Validator::new(omen::ValidatorOptions::default());
    validator.feed(&corpus.bytes, &mut findings);
    let Ok(summary) = validator.finish(&mut findings);
    let as_made = summary.packets == corpus.packets && summary.episodes == corpus.episodes;
    if as_made && summary.errors == 0 && summary.warnings * 100 <= summary.packets {
        return Ok(());
    }
    let first: Vec<_> =
        findings.iter().take(3).map(|finding| format!("{:?}: {}", finding.line, finding.diagnostic)).collect();
    Err(format!("the corpus is not clean: {summary:?}\n{}", first.join("\n")).into())
}
