//! Walk: everything that the typed API writes is valid, and everything valid can be resumed.
//!
//! The walk makes random moves of the typed API, with random payloads within the schemas. The validator must accept every log,
//! also at the end of the stream. A move of the typed API may be refused only for a reason that the types cannot express. At a
//! sample of points the log so far is resumed, which must give the same state and the same moves. No move is made that was not
//! offered.
//!
//! One walk in four ends by accident: its episode is dropped, alone, by a panic or with a cancelled future, while tasks are
//! open or a tool is running. What the drop policy then writes is validated like everything else.
//!
//! Every walk can be reproduced by seed and number: `cargo xtask walk --seed S --from N --n 1`.

use std::collections::BTreeMap;
use std::fmt;
use std::thread;

use fastrand::Rng;
use omen::*;

mod end;
mod moves;
mod world;

use crate::Failure;
use crate::referee;
use moves::Tried;
use world::World;

/// Amount of walking.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Number of episodes
    #[arg(long = "n", default_value_t = 20_000)]
    pub count: u64,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 7)]
    pub seed: u64,
    /// Number of the first episode
    #[arg(long, default_value_t = 0)]
    pub from: u64,
    /// Number of threads
    #[arg(long, default_value_t = 1)]
    pub threads: u64,
    /// Resume one episode in this many at every point; 1 for all
    #[arg(long, default_value_t = 20)]
    pub resume_every: u64,
}

/// Result.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Number of episodes walked.
    pub episodes: u64,
    /// Number of packets written.
    pub packets: u64,
    /// Number of prefixes that were resumed.
    pub resumed: u64,
    /// Number of moves made, by event.
    pub made: BTreeMap<&'static str, u64>,
    /// Number of episodes that ended by accident, by accident and drop policy.
    pub accidents: BTreeMap<String, u64>,
    /// Number of refused moves, by code.
    pub refused: BTreeMap<Code, u64>,
    /// The first few faults.
    pub faults: Vec<String>,
}

/// Runs the walks.
///
/// # Errors
/// If an envelope of the walk is invalid.
pub fn run(options: &Options) -> Result<Report, Failure> {
    let threads = options.threads.max(1);
    let proposals = &referee::proposals(options.seed, PROPOSALS)?;
    let reports: Vec<_> = thread::scope(|scope| {
        let walk = |worker| scope.spawn(move || walks(options, proposals, worker, threads));
        let workers: Vec<_> = (0..threads).map(walk).collect();
        workers.into_iter().map(thread::ScopedJoinHandle::join).collect()
    });
    let mut all = Report::default();
    for report in reports {
        all.add(report.map_err(|_| "a thread of the walk panicked")??);
    }
    Ok(all)
}

/// Runs every `step`th walk.
fn walks(options: &Options, proposals: &[String], first: u64, step: u64) -> Result<Report, Failure> {
    let mut report = Report::default();
    let numbers = options.from..options.from.saturating_add(options.count);
    let step = usize::try_from(step).unwrap_or(1);
    for number in numbers.skip(usize::try_from(first).unwrap_or(0)).step_by(step) {
        let origin = format!("--seed {} --from {number} --n 1", options.seed);
        let rng = Rng::with_seed(options.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let resumes = number.is_multiple_of(options.resume_every.max(1));
        if let Err(fault) = walk(World::new(rng, proposals)?, resumes, &mut report)? {
            report.faults.push(format!("{origin}: {fault}"));
            if report.faults.len() >= MOST_FAULTS {
                break;
            }
        }
        report.episodes += 1;
    }
    Ok(report)
}

/// Walks one episode. Returns the fault, if any.
fn walk(mut world: World<'_>, resumes: bool, report: &mut Report) -> Result<Result<(), String>, Failure> {
    let mut episode = world.begin()?.start()?.into_any();
    let steps = world.rng.u32(5..40);
    let accident = (world.rng.u8(..4) == 0).then(|| world.rng.u32(..steps));
    for step in 0..steps {
        if accident == Some(step) {
            return Ok(world.end_by_accident(episode, report));
        }
        let offered = episode.moves();
        let lines = episode.lines().len();
        let (tried, kind) = world.step(episode);
        match tried {
            Tried::Moved(next) => {
                if let Some(fault) = unoffered(&offered, &next, lines) {
                    return Ok(Err(fault));
                }
                episode = next;
            }
            Tried::Astray(fault) => return Ok(Err(format!("{kind:?}: {fault}"))),
            Tried::Refused(next, why) => {
                let Some(code) = why.code() else { return Ok(Err(format!("the log failed: {why}"))) };
                *report.refused.entry(code).or_default() += 1;
                if !kind.may_refuse(code) {
                    return Ok(Err(format!("{kind:?} was refused: {why}")));
                }
                if next.lines().len() != lines {
                    return Ok(Err(format!("{kind:?} was refused, but a packet was written: {why}")));
                }
                episode = next;
            }
        }
        if resumes && let Err(fault) = resume(&world, &episode, report)? {
            return Ok(Err(fault));
        }
        world.pass_time();
    }
    let lines = world.end(episode);
    report.packets += lines.len() as u64;
    Ok(judge(&lines, report))
}

/// Returns a fault if the written event had not been offered.
fn unoffered(offered: &[omen_fsm::Event], episode: &AnyEpisode, before: usize) -> Option<String> {
    let line = episode.lines().get(before)?;
    let facts = omen_types::PacketFacts::parse(line).ok()?;
    let event = omen_fsm::Event::of(&facts);
    (!offered.contains(&event)).then(|| format!("`{event}` was made but had not been offered: {line}"))
}

/// Resumes the episode from its log so far.
fn resume(world: &World<'_>, episode: &AnyEpisode, report: &mut Report) -> Result<Result<(), String>, Failure> {
    report.resumed += 1;
    let resumed = match AnyEpisode::resume(world.setup()?, episode.lines().iter().map(String::as_str)) {
        Ok(resumed) => resumed,
        Err(error) => return Ok(Err(format!("the log does not resume: {error}"))),
    };
    let same = resumed.nodes() == episode.nodes()
        && resumed.moves() == episode.moves()
        && std::mem::discriminant(&resumed) == std::mem::discriminant(episode);
    Ok(if same { Ok(()) } else { Err(format!("expected {episode:?}, resumed as {resumed:?}")) })
}

/// Validates the whole log.
fn judge(lines: &[String], report: &mut Report) -> Result<(), String> {
    let mut findings: Vec<Finding> = Vec::new();
    let mut validator = Validator::new(omen::validator::ValidatorOptions::default());
    for line in lines {
        validator.feed(line.as_bytes(), &mut findings);
        validator.feed(b"\n", &mut findings);
        if let Ok(facts) = omen_types::PacketFacts::parse(line) {
            *report.made.entry(omen_fsm::Event::of(&facts).as_str()).or_default() += 1;
        }
    }
    let Ok(summary) = validator.finish(&mut findings);
    // The typed API takes layers from the table, and links its packets itself (D63, D65). Payloads may name anything.
    let is_of_payload = |finding: &Finding| {
        finding.diagnostic.pointer.as_deref().is_some_and(|pointer| pointer.starts_with("/payload/"))
    };
    let is_own = |finding: &&Finding| match finding.diagnostic.code {
        Code::Layer => true,
        Code::Chain => !is_of_payload(finding),
        _ => false,
    };
    if let Some(finding) = findings.iter().find(is_own) {
        return Err(format!("the validator warns: {}\n{}", finding.diagnostic, lines.join("\n")));
    }
    match findings.iter().find(|finding| finding.diagnostic.severity == Severity::Error) {
        Some(finding) => Err(format!("the validator reports: {}\n{}", finding.diagnostic, lines.join("\n"))),
        None if summary.accepted != lines.len() as u64 => Err("the validator did not accept every packet".to_owned()),
        None => Ok(()),
    }
}

impl Report {
    fn add(&mut self, other: Report) {
        self.episodes += other.episodes;
        self.packets += other.packets;
        self.resumed += other.resumed;
        for (event, count) in other.made {
            *self.made.entry(event).or_default() += count;
        }
        for (accident, count) in other.accidents {
            *self.accidents.entry(accident).or_default() += count;
        }
        for (code, count) in other.refused {
            *self.refused.entry(code).or_default() += count;
        }
        self.faults.extend(other.faults);
    }
}

/// Number of proposals per packet type.
const PROPOSALS: u64 = 500;

/// Number of faults after which the walk stops.
const MOST_FAULTS: usize = 5;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for fault in &self.faults {
            writeln!(f, "fault at {fault}")?;
        }
        for (event, count) in &self.made {
            writeln!(f, "{event:22}{count:10} made")?;
        }
        for (accident, count) in &self.accidents {
            writeln!(f, "{accident:22}{count:10} ended")?;
        }
        for (code, count) in &self.refused {
            writeln!(f, "{:22}{count:10} refused", code.as_str())?;
        }
        writeln!(
            f,
            "{} episodes, {} packets, {} prefixes resumed, {} faults",
            self.episodes,
            self.packets,
            self.resumed,
            self.faults.len()
        )
    }
}
