//! The referee: do the generated readers and JSON Schema give the same verdict?
//!
//! Valid packets, generated from the schemas and taken from the examples, are mutated a little, and every
//! mutant is judged twice: by the `jsonschema` crate with the schema files as they are, and by
//! `omen-types`. JSON Schema cannot see a repeated key (D42) and has no limit of nesting; there the
//! referee decides by itself. An accepted packet must survive a round trip; a refused one must have
//! errors, each with its place, where JSON Schema has errors, too.
//!
//! Seed and number reproduce every mutant: `cargo xtask referee --seed S --from N --n 1`.

use std::collections::BTreeMap;
use std::fmt;
use std::thread;

use fastrand::Rng;

mod json;
mod judge;
mod mutate;
mod pointer;
mod sample;
pub(crate) mod schemas;
mod values;

pub use judge::Fault;
pub use mutate::Kind;

use json::Json;
use judge::judge;
use mutate::Pool;
use sample::Sampler;
use schemas::Schemas;

/// Why the referee cannot run: an invalid schema file.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// How much to compare.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Number of mutants
    #[arg(long = "n", default_value_t = 100_000)]
    pub count: u64,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 7)]
    pub seed: u64,
    /// Number of the first mutant
    #[arg(long, default_value_t = 0)]
    pub from: u64,
    /// Number of threads
    #[arg(long, default_value_t = 1)]
    pub threads: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { count: 100_000, seed: 7, from: 0, threads: 1 }
    }
}

/// The result.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Mutants that both sides accept.
    pub accepted: u64,
    /// Mutants that both sides refuse.
    pub refused: u64,
    /// The number of mutants with each kind of change, and how many of them were accepted.
    pub kinds: BTreeMap<Kind, (u64, u64)>,
    /// The first few disagreements.
    pub disagreements: Vec<Disagreement>,
}

/// A mutant on which the sides differ.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// The seed and the number of the mutant.
    pub origin: (u64, u64),
    /// How they differ.
    pub fault: Fault,
    /// The changes that are needed for it.
    pub kinds: Vec<Kind>,
    /// Both verdicts on the smallest text found.
    pub details: String,
    /// The smallest text found on which they differ so.
    pub text: String,
}

/// One mistake can cause thousands of disagreements.
const MOST_DISAGREEMENTS: usize = 10;

/// Compares the two sides on many mutants.
///
/// # Errors
/// If the schema files do not make a validator.
pub fn run(options: &Options) -> Result<Report, Failure> {
    let schemas = Schemas::load()?;
    let (samples, examples) = (samples(&schemas, options.seed)?, examples(&schemas)?);
    let pool = Pool { schemas: &schemas, samples: &samples, examples: &examples };
    let threads = options.threads.max(1);
    let reports: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|worker| {
                let (pool, numbers) = (&pool, options.from..options.from.saturating_add(options.count));
                let step = usize::try_from(threads).unwrap_or(1);
                let first = usize::try_from(worker).unwrap_or(0);
                scope.spawn(move || compare(pool, options.seed, numbers.skip(first).step_by(step)))
            })
            .collect();
        workers.into_iter().map(thread::ScopedJoinHandle::join).collect()
    });
    let mut all = Report::default();
    for report in reports {
        all.add(report.map_err(|_| "a thread of the referee panicked")?);
    }
    Ok(all)
}

/// Packets generated from the schemas: of each type, minimal, full and in between.
fn samples(schemas: &Schemas, seed: u64) -> Result<Vec<Json>, Failure> {
    let mut packets = Vec::new();
    for (name, file) in &schemas.roots {
        for fullness in [0, 0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 6, 7, 7, 7, 8, 8, 8, 8, 8] {
            let seed = seed.wrapping_add(packets.len() as u64);
            let packet = Sampler::new(schemas, seed, fullness)
                .packet(name, file)
                .ok_or_else(|| format!("unexpected form of {file}"))?;
            valid(schemas, &packet.write(&mut None), name)?;
            packets.push(packet);
        }
    }
    Ok(packets)
}

/// Proposals of a model: payloads generated from the schemas, `count` for each packet type, half of them with an envelope.
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

/// The valid packets of the example logs.
fn examples(schemas: &Schemas) -> Result<Vec<Json>, Failure> {
    let mut packets = Vec::new();
    for (_, text) in omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl")) {
        for line in text.lines() {
            // Lines that are there to be refused have tests of their own.
            if serde_json::from_str(line).is_ok_and(|value| schemas.accept(&value)) {
                packets.push(serde_json::from_str(line)?);
            }
        }
    }
    Ok(packets)
}

fn valid(schemas: &Schemas, text: &str, name: &str) -> Result<(), Failure> {
    match judge(schemas, text) {
        Ok(true) => Ok(()),
        Ok(false) => Err(format!("the sample of {name} is not valid: {text}").into()),
        Err(complaint) => Err(format!("the sample of {name}: {complaint}\n{text}").into()),
    }
}

fn compare(pool: &Pool<'_>, seed: u64, numbers: impl Iterator<Item = u64>) -> Report {
    let mut report = Report::default();
    for number in numbers {
        let mutant = Mutant::new(pool, seed, number);
        let accepted = match judge(pool.schemas, &mutant.text) {
            Ok(accepted) => accepted,
            Err(_) if report.disagreements.len() >= MOST_DISAGREEMENTS => break,
            Err(complaint) => {
                report.disagreements.push(shrink(pool, mutant, complaint, (seed, number)));
                continue;
            }
        };
        *if accepted { &mut report.accepted } else { &mut report.refused } += 1;
        for change in &mutant.changes {
            let (all, good) = report.kinds.entry(change.kind).or_default();
            *all += 1;
            *good += u64::from(accepted);
        }
    }
    report
}

/// A change and where its random numbers start.
#[derive(Clone, Copy)]
struct Change {
    kind: Kind,
    seed: u64,
}

struct Mutant {
    base: Json,
    changes: Vec<Change>,
    tree: Json,
    text: String,
}

impl Mutant {
    fn new(pool: &Pool<'_>, seed: u64, number: u64) -> Self {
        let mut rng = Rng::with_seed(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let base = pool.packet(&mut rng).cloned().unwrap_or(Json::Null);
        let count = *rng.choice(&[1, 1, 1, 2, 2, 3]).unwrap_or(&1);
        let mut changes = Vec::new();
        let mut tree = base.clone();
        while changes.len() < count {
            let change = Change { kind: *rng.choice(Kind::ALL).unwrap_or(&Kind::Null), seed: rng.u64(..) };
            if pool.apply(change.kind, &mut tree, &mut Rng::with_seed(change.seed)) {
                changes.push(change);
            }
        }
        let text = spell(&tree, &changes);
        Self { base, changes, tree, text }
    }

    /// The same base with fewer changes.
    fn with(&self, pool: &Pool<'_>, changes: Vec<Change>) -> Self {
        let mut tree = self.base.clone();
        for change in &changes {
            pool.apply(change.kind, &mut tree, &mut Rng::with_seed(change.seed));
        }
        let text = spell(&tree, &changes);
        Self { base: self.base.clone(), changes, tree, text }
    }
}

/// The text of a tree, with the changes that concern the text only.
fn spell(tree: &Json, changes: &[Change]) -> String {
    let find = |kind| changes.iter().find(|change| change.kind == kind).map(|change| Rng::with_seed(change.seed));
    let mut text = tree.write(&mut find(Kind::Spelling));
    if let Some(mut rng) = find(Kind::Syntax) {
        mutate::break_text(&mut text, &mut rng);
    }
    text
}

/// Undoes changes and drops values for as long as the sides differ in the same way.
fn shrink(pool: &Pool<'_>, mutant: Mutant, complaint: judge::Complaint, origin: (u64, u64)) -> Disagreement {
    let fault = complaint.fault;
    let mut best = (mutant, complaint);
    let fails = |text: &str| judge(pool.schemas, text).err().filter(|complaint| complaint.fault == fault);
    let mut at = 0;
    while at < best.0.changes.len() {
        let mut fewer = best.0.changes.clone();
        fewer.remove(at);
        let smaller = best.0.with(pool, fewer);
        match fails(&smaller.text) {
            Some(complaint) => best = (smaller, complaint),
            None => at += 1,
        }
    }
    let (Mutant { mut tree, mut text, changes, .. }, mut complaint) = best;
    // Parents come before children, so that large parts go first.
    let mut index = 1;
    while let Some(path) = tree.paths(|_| true).get(index) {
        let mut smaller = tree.clone();
        smaller.remove(path);
        let spelled = spell(&smaller, &changes);
        match fails(&spelled) {
            Some(found) => (tree, text, complaint) = (smaller, spelled, found),
            None => index += 1,
        }
    }
    let kinds = changes.iter().map(|change| change.kind).collect();
    Disagreement { origin, fault, kinds, details: complaint.details, text }
}

impl Report {
    fn add(&mut self, other: Report) {
        self.accepted += other.accepted;
        self.refused += other.refused;
        for (kind, (all, good)) in other.kinds {
            let sum = self.kinds.entry(kind).or_default();
            sum.0 += all;
            sum.1 += good;
        }
        self.disagreements.extend(other.disagreements);
    }

    /// How many mutants were compared.
    #[must_use]
    pub fn mutants(&self) -> u64 {
        self.accepted + self.refused + self.disagreements.len() as u64
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
        writeln!(
            f,
            "{} mutants: {} accepted, {} refused, {} disagreements",
            self.mutants(),
            self.accepted,
            self.refused,
            self.disagreements.len()
        )
    }
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seed, number) = self.origin;
        let kinds: Vec<_> = self.kinds.iter().map(ToString::to_string).collect();
        writeln!(
            f,
            "disagreement ({:?}) at --seed {seed} --from {number} --n 1, changed: {}",
            self.fault,
            kinds.join(", ")
        )?;
        writeln!(f, "  {}", self.details.replace('\n', "\n  "))?;
        writeln!(f, "  {}", self.text)
    }
}
