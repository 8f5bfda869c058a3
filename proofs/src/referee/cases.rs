//! Texts that the referee judges: random mutants, and exhaustive changes of one kind to some lines.

use std::fmt;
use std::ops::ControlFlow;

use fastrand::Rng;

use super::json::Json;
use super::judge::judge;
use super::mutant::Mutant;
use super::mutate::{Kind, Pool};
use super::sample::Sampler;
use super::schemas::Schemas;
use super::strict;
use crate::Failure;

/// Amount of comparison.
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
    /// Number of lines that are cut off after every byte
    #[arg(long, default_value_t = 0)]
    pub cut: u64,
    /// Number of lines in which every byte is replaced by eight others
    #[arg(long, default_value_t = 0)]
    pub replace: u64,
    /// Number of threads; the result does not depend on it
    #[arg(long, default_value_t = cores())]
    pub threads: u64,
}

fn cores() -> u64 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64)
}

impl Default for Options {
    fn default() -> Self {
        Self { count: 100_000, seed: 7, from: 0, cut: 0, replace: 0, threads: 1 }
    }
}

/// Valid packets to change.
pub struct Cases {
    pub(super) schemas: Schemas,
    samples: Vec<Json>,
    examples: Vec<Json>,
    options: Options,
}

/// A text to judge.
#[derive(Clone, Debug)]
pub struct Case<'c> {
    /// How to reproduce it.
    pub origin: Origin,
    /// The changes of a random mutant.
    pub kinds: Vec<Kind>,
    /// The text. A random mutant is UTF-8.
    pub bytes: &'c [u8],
}

/// Origin of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Random changes of a packet.
    Mutant {
        /// Seed of the run.
        seed: u64,
        /// Number of the mutant.
        number: u64,
    },
    /// A line that is cut off.
    Cut {
        /// Number of the line.
        line: u64,
        /// Remaining length.
        at: usize,
    },
    /// A line with one byte replaced.
    Replaced {
        /// Number of the line.
        line: u64,
        /// Position of the byte.
        at: usize,
        /// New byte.
        byte: u8,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mutant { seed, number } => write!(f, "--seed {seed} --from {number} --n 1"),
            Self::Cut { line, at } => write!(f, "line {line} of --cut, after {at} bytes"),
            Self::Replaced { line, at, byte } => write!(f, "line {line} of --replace, byte {at} becomes {byte:#04x}"),
        }
    }
}

impl Cases {
    /// Loads the schemas, and generates the valid packets.
    ///
    /// # Errors
    /// If the schema files do not form a validator, or a sample is invalid.
    pub fn new(options: &Options) -> Result<Self, Failure> {
        let schemas = Schemas::load()?;
        let (samples, examples) = (samples(&schemas, options.seed)?, examples(&schemas));
        Ok(Self { schemas, samples, examples, options: options.clone() })
    }

    pub(super) fn pool(&self) -> Pool<'_> {
        Pool { schemas: &self.schemas, samples: &self.samples, examples: &self.examples }
    }

    /// Visits one worker's share of all texts, until `see` breaks. Workers are numbered below [`Options::threads`].
    pub fn visit(&self, worker: u64, mut see: impl FnMut(&Case<'_>) -> ControlFlow<()>) {
        let _ = self.random(worker, &mut see).is_continue()
            && self.cut(worker, &mut see).is_continue()
            && self.replaced(worker, &mut see).is_continue();
    }

    /// Returns a worker's share of the numbers in a range.
    fn share(&self, range: std::ops::Range<u64>, worker: u64) -> impl Iterator<Item = u64> {
        let step = usize::try_from(self.options.threads.max(1)).unwrap_or(1);
        range.skip(usize::try_from(worker).unwrap_or(0)).step_by(step)
    }

    fn random(&self, worker: u64, see: &mut impl FnMut(&Case<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
        let Options { seed, from, count, .. } = self.options;
        let pool = self.pool();
        self.share(from..from.saturating_add(count), worker).try_for_each(|number| {
            let mutant = Mutant::new(&pool, seed, number);
            let kinds = mutant.changes.iter().map(|change| change.kind).collect();
            see(&Case { origin: Origin::Mutant { seed, number }, kinds, bytes: mutant.text.as_bytes() })
        })
    }

    /// Visits every prefix of some lines.
    fn cut(&self, worker: u64, see: &mut impl FnMut(&Case<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
        self.share(0..self.options.cut, worker).try_for_each(|line| {
            let text = self.line(line, self.options.cut);
            (0..text.len()).try_for_each(|at| {
                let bytes = text.as_bytes().get(..at).unwrap_or_default();
                see(&Case { origin: Origin::Cut { line, at }, kinds: Vec::new(), bytes })
            })
        })
    }

    /// Visits some lines with each byte in turn replaced by several others.
    fn replaced(&self, worker: u64, see: &mut impl FnMut(&Case<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
        self.share(0..self.options.replace, worker).try_for_each(|line| {
            let mut rng = Rng::with_seed(self.options.seed ^ line);
            let mut bytes = self.line(line, self.options.replace).into_bytes();
            (0..bytes.len()).try_for_each(|at| {
                let old = bytes.get(at).copied().unwrap_or_default();
                for byte in replacements(old, &mut rng) {
                    bytes.get_mut(at).into_iter().for_each(|place| *place = byte);
                    let origin = Origin::Replaced { line, at, byte };
                    see(&Case { origin, kinds: Vec::new(), bytes: &bytes })?;
                }
                bytes.get_mut(at).into_iter().for_each(|place| *place = old);
                ControlFlow::Continue(())
            })
        })
    }

    /// Returns one of `count` lines, which are spread over all valid packets. Every fourth is written in Python's form.
    fn line(&self, number: u64, count: u64) -> String {
        let all = self.samples.len() + self.examples.len();
        let at = usize::try_from(u128::from(number) * all as u128 / u128::from(count.max(1))).unwrap_or(0);
        let packet = self.samples.iter().chain(&self.examples).nth(at);
        let text = packet.map(|packet| packet.write(&mut None)).unwrap_or_default();
        if number % 4 == 3 { super::form::python(&text) } else { text }
    }
}

/// Number of other bytes that replace each byte.
const REPLACEMENTS: usize = 8;

/// Returns distinct other bytes: neighbours of the old one, and bytes that are special in JSON or UTF-8. None ends a line.
fn replacements(old: u8, rng: &mut Rng) -> Vec<u8> {
    let mut new: Vec<u8> = vec![old ^ 0x20, old ^ 0x01, old ^ 0x80];
    new.retain(|byte| *byte != b'\n');
    let special = b"\"\\{}[],:/ \t\r0159-+.eEuntfaAzZ_\0\x01\x1f\x7f\x80\xbf\xc0\xc3\xe2\xed\xf0\xf4\xff";
    while new.len() < REPLACEMENTS {
        let byte = *rng.choice(special).unwrap_or(&b'"');
        if byte != old && !new.contains(&byte) {
            new.push(byte);
        }
    }
    new
}

/// Returns packets generated from the schemas: for each type, minimal, full and intermediate ones.
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

/// Returns the valid packets of the example logs.
fn examples(schemas: &Schemas) -> Vec<Json> {
    let logs = omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl"));
    let lines = logs.flat_map(|(_, text)| text.lines());
    // Lines that are meant to be refused have their own tests.
    let valid = lines.filter(|line| serde_json::from_str(line).is_ok_and(|value| schemas.accept(&value)));
    valid.filter_map(|line| strict::read(line).ok()).collect()
}

fn valid(schemas: &Schemas, text: &str, name: &str) -> Result<(), Failure> {
    match judge(schemas, text) {
        Ok(true) => Ok(()),
        Ok(false) => Err(format!("the sample of {name} is not valid: {text}").into()),
        Err(complaint) => Err(format!("the sample of {name}: {complaint}\n{text}").into()),
    }
}
