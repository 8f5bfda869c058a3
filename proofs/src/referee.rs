//! Referee: do the generated parser and JSON Schema give the same verdicts?
//!
//! Valid packets, generated from the schemas and taken from the examples, are mutated slightly, and every mutant is judged
//! three times: by the `jsonschema` crate with the schema files and with the schema that schemars derives from the Rust types,
//! and by `omen-types`. JSON Schema cannot see a repeated key (D42) and has no nesting limit; the referee itself decides these
//! cases. An accepted packet must survive a round trip; a refused one must have errors, each with its place, where JSON Schema
//! also has errors.
//!
//! Many mutants change the values, others the form of the text: white space, escapes, the notation of numbers, brackets, text
//! before and after. Two passes are exhaustive: every prefix of some lines, and some lines with each byte replaced by others.
//! These passes also compare the validator of logs, since not all of the lines are UTF-8.
//!
//! Every mutant can be reproduced by seed and number: `cargo xtask referee --seed S --from N --n 1`.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::thread;
use std::time::{Duration, Instant};

mod cases;
mod form;
mod json;
mod judge;
mod mutant;
mod mutate;
mod pointer;
mod sample;
pub(crate) mod schemas;
mod shrink;
mod strict;
mod token;
mod values;

pub use cases::{Case, Cases, Options, Origin};
pub use judge::Fault;
pub use mutate::Kind;
pub use shrink::Disagreement;

use crate::Failure;
use judge::{judge, judge_line};
use sample::Sampler;
use schemas::Schemas;

/// Result.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Number of mutants that both sides accept.
    pub accepted: u64,
    /// Number of mutants that both sides refuse.
    pub refused: u64,
    /// Number of mutants with each kind of change, and how many of them were accepted.
    pub kinds: BTreeMap<Kind, (u64, u64)>,
    /// Number of line prefixes on which both sides agree, and how many of them were accepted.
    pub cut: (u64, u64),
    /// Number of lines with one byte replaced on which both sides agree, and how many of them were accepted.
    pub replaced: (u64, u64),
    /// The first few disagreements.
    pub disagreements: Vec<Disagreement>,
    /// Duration.
    pub time: Duration,
}

/// Maximum number of reported disagreements, since one mistake can cause thousands.
const MOST_DISAGREEMENTS: usize = 10;

/// Compares the two sides on many mutants.
///
/// # Errors
/// If the schema files do not form a validator.
pub fn run(options: &Options) -> Result<Report, Failure> {
    let cases = Cases::new(options)?;
    let begun = Instant::now();
    let reports: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..options.threads.max(1))
            .map(|worker| {
                let cases = &cases;
                scope.spawn(move || compare(cases, worker))
            })
            .collect();
        workers.into_iter().map(thread::ScopedJoinHandle::join).collect()
    });
    let mut all = Report::default();
    for report in reports {
        all.add(report.map_err(|_| "a thread of the referee panicked")?);
    }
    all.disagreements.sort_by_key(|disagreement| disagreement.origin);
    all.time = begun.elapsed();
    Ok(all)
}

/// Returns proposals of a model: payloads generated from the schemas, `count` per packet type, half of them with an envelope.
pub(crate) fn proposals(seed: u64, count: u64) -> Result<Vec<String>, Failure> {
    let schemas = Schemas::load()?;
    let mut proposals = Vec::new();
    for (name, file) in &schemas.roots {
        for number in 0..count {
            let fullness = u8::try_from(number % 9)?;
            let seed = seed.wrapping_add(proposals.len() as u64);
            let packet = Sampler::new(&schemas, seed, fullness).packet(name, file);
            let packet = packet.ok_or_else(|| format!("unexpected form of {file}"))?;
            let part = |name: &str| packet.get(name).map(|part| part.write(&mut None)).unwrap_or_default();
            let mcp = if number % 2 == 0 { String::new() } else { format!(r#", "mcp": {}"#, part("mcp")) };
            proposals.push(format!(r#"{{"packet_type": "{name}", "payload": {}{mcp}}}"#, part("payload")));
        }
    }
    Ok(proposals)
}

/// Judges one worker's share.
fn compare(cases: &Cases, worker: u64) -> Report {
    let mut report = Report::default();
    cases.visit(worker, |case| {
        let verdict = match (case.origin, std::str::from_utf8(case.bytes)) {
            (Origin::Mutant { .. }, Ok(text)) => judge(&cases.schemas, text),
            _ => judge_line(&cases.schemas, case.bytes),
        };
        match verdict {
            Ok(accepted) => report.count(case, accepted),
            Err(_) if report.disagreements.len() >= MOST_DISAGREEMENTS => return ControlFlow::Break(()),
            Err(complaint) => report.disagreements.push(shrink::shrink(cases, case, complaint)),
        }
        ControlFlow::Continue(())
    });
    report
}

impl Report {
    fn count(&mut self, case: &Case<'_>, accepted: bool) {
        let count = |sum: &mut (u64, u64)| {
            sum.0 += 1;
            sum.1 += u64::from(accepted);
        };
        match case.origin {
            Origin::Mutant { .. } => {
                *if accepted { &mut self.accepted } else { &mut self.refused } += 1;
                case.kinds.iter().for_each(|kind| count(self.kinds.entry(*kind).or_default()));
            }
            Origin::Cut { .. } => count(&mut self.cut),
            Origin::Replaced { .. } => count(&mut self.replaced),
        }
    }

    fn add(&mut self, other: Report) {
        let add = |sum: &mut (u64, u64), (all, good)| {
            sum.0 += all;
            sum.1 += good;
        };
        self.accepted += other.accepted;
        self.refused += other.refused;
        other.kinds.into_iter().for_each(|(kind, counts)| add(self.kinds.entry(kind).or_default(), counts));
        add(&mut self.cut, other.cut);
        add(&mut self.replaced, other.replaced);
        self.disagreements.extend(other.disagreements);
    }

    /// Returns the number of random mutants that were compared.
    #[must_use]
    pub fn mutants(&self) -> u64 {
        let differ = |found: &&Disagreement| matches!(found.origin, Origin::Mutant { .. });
        self.accepted + self.refused + self.disagreements.iter().filter(differ).count() as u64
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for disagreement in &self.disagreements {
            writeln!(f, "{disagreement}")?;
        }
        for (kind, (all, good)) in &self.kinds {
            writeln!(f, "{kind:22}{all:10} mutants{good:10} accepted")?;
        }
        for (name, (all, good)) in [("lines cut off", self.cut), ("bytes replaced", self.replaced)] {
            if all > 0 {
                writeln!(f, "{name:22}{all:10} texts  {good:10} accepted")?;
            }
        }
        writeln!(
            f,
            "{} mutants: {} accepted, {} refused, {} disagreements",
            self.mutants(),
            self.accepted,
            self.refused,
            self.disagreements.len()
        )?;
        let texts = self.mutants() + self.cut.0 + self.replaced.0;
        let seconds = self.time.as_secs_f64();
        writeln!(f, "{seconds:.1} s, {:.0} texts a second", texts as f64 / seconds)
    }
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds: Vec<_> = self.kinds.iter().map(ToString::to_string).collect();
        writeln!(f, "disagreement ({:?}) at {}, changed: {}", self.fault, self.origin, kinds.join(", "))?;
        writeln!(f, "  {}", self.details.replace('\n', "\n  "))?;
        writeln!(f, "  {}", self.text)
    }
}
