//! Simulation: the code of workers and publishers with a server in memory, in simulated time. A seed determines everything that
//! happens: which processes die, which messages are lost, and what the server forgets. The same seed gives the same run.
//!
//! `OMEN_TEST_SEEDS` sets the number of seeds; `OMEN_TEST_SEED` selects a single one.

mod world;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use omen::validator::ValidatorOptions;
use omen_testkit::logs::Logs;
use omen_testkit::proofs::Proofs;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tracing::Instrument as _;

use self::world::{Client, Health, Losses, Random, World};
use crate::failure::Failure;
use crate::membership::{self, Agreement};
use crate::metrics::Metrics;
use crate::names::Names;
use crate::partition::{IncomingMessage, Judge, MarksOfTime, WorkerContext};
use crate::publish::{self, publication};
use crate::stream::bucket::Bucket;
use crate::worker;

struct Worker {
    client: Client,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<(), Failure>>,
}

struct Run {
    world: World,
    random: Random,
    partitions: u16,
    ttl: Option<u64>,
    begun: u64,
    workers: Vec<Worker>,
    /// Log output of the workers.
    logs: Logs,
    /// Whether a stream has lost messages whose findings were published.
    is_restored: bool,
    acts: Vec<String>,
    oracles: BTreeMap<u16, Oracle>,
}

/// Expected findings of a partition.
struct Oracle {
    judge: Judge,
    findings: Vec<String>,
}

impl Run {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed ^ 0x5eed);
        Self {
            world: World::new(seed),
            partitions: u16::try_from(random.below(3)).unwrap_or(0) + 1,
            ttl: (random.below(3) == 0).then_some(8),
            random,
            begun: 0,
            workers: Vec::new(),
            logs: Logs::capture(),
            is_restored: false,
            acts: Vec::new(),
            oracles: BTreeMap::new(),
        }
    }

    fn start(&mut self) {
        self.begun += 1;
        let client = Client::new(&self.world);
        let names = Names::with_prefix("PACKETS");
        let options = ValidatorOptions::default();
        let shared = Arc::new(WorkerContext {
            state: Bucket::new(client.clone(), &names.state),
            link: client.link.clone(),
            agreement: Agreement::new(&options, self.ttl),
            marks: self.ttl.map(|idle_seconds| MarksOfTime { every: membership::BEAT, idle_seconds }),
            metrics: Arc::new(Metrics::new(self.partitions, client.link.clone())),
            broker: client.clone(),
            names,
            partitions: self.partitions,
            options,
            accepts_gaps: false,
            id: format!("worker-{}", self.begun),
        });
        let (stop, stopped) = oneshot::channel::<()>();
        let working =
            async move { worker::work(shared, async { drop(stopped.await) }, || std::future::ready(Ok(()))).await };
        let task = tokio::spawn(working.instrument(self.logs.span()));
        self.workers.push(Worker { client, stop, task });
    }

    /// Publishes a log to its end, like a command that is restarted until it succeeds.
    fn publish(&self, number: u64, log: String) -> JoinHandle<()> {
        let (world, partitions, ends) = (self.world.clone(), self.partitions, number.is_multiple_of(2));
        let rate = Some(20 + u32::try_from(number).unwrap_or(0) * 30);
        tokio::spawn(async move {
            let (options, source) = (publish::Options { rate, ends }, format!("log {number}"));
            let names = Names::with_prefix("PACKETS");
            loop {
                let client = Client::new(&world);
                let published = async {
                    let mut run =
                        publication::Publication::begin(&client, &names, partitions, &source, &options).await?;
                    for (number, line) in (1..).zip(log.lines()) {
                        run.line(number, line.as_bytes()).await?;
                    }
                    run.finish().await
                };
                match published.await {
                    Ok(_) => return,
                    Err(Failure::Server { .. } | Failure::Fenced(_)) => sleep(Duration::from_secs(1)).await,
                    // The stream was restored to a state before the published messages.
                    Err(_) => return,
                }
            }
        })
    }

    /// Injects a random fault, and soon reverts it where that is possible.
    async fn act(&mut self, is_destructive: bool) {
        let at = usize::try_from(self.random.below(self.workers.len() as u64)).unwrap_or(0);
        let pause = self.random.millis(9_000);
        let kinds = if is_destructive { 10 } else { 7 };
        let what = match self.random.below(kinds) {
            0 => {
                self.workers.remove(at).client.set(Health::Dead);
                self.start();
                "a worker is killed"
            }
            1 => {
                let worker = self.workers.remove(at);
                let _ = worker.stop.send(());
                let _ = worker.task.await;
                self.start();
                "a worker is stopped"
            }
            2 => {
                self.start();
                "a worker joins"
            }
            3 => {
                self.for_a_while(at, Health::Paused, pause).await;
                "a worker sleeps"
            }
            4 => {
                self.for_a_while(at, Health::Cut, pause).await;
                "a connection is cut"
            }
            5 => {
                let losses = Losses { requests: self.random.below(200), answers: self.random.below(300) };
                self.world.inner().losses = losses;
                sleep(pause).await;
                self.world.inner().losses = Losses::default();
                "requests and answers are lost"
            }
            6 => {
                // Readers end, all connections are cut, and the clock jumps.
                self.workers.iter().for_each(|worker| worker.client.set(Health::Cut));
                let moved = i64::try_from(self.random.below(20_000)).unwrap_or(0) - 10_000;
                {
                    let mut inner = self.world.inner();
                    inner.epoch += 1;
                    inner.moved += moved;
                }
                sleep(pause / 4).await;
                self.workers.iter().for_each(|worker| worker.client.set(Health::Connected));
                "the server starts again"
            }
            7 => {
                let partition = self.random.below(self.partitions.into());
                let mut inner = self.world.inner();
                let stream = inner.streams.entry(format!("PACKETS_{partition}")).or_default();
                let number = stream.last.saturating_sub(self.random.below(6));
                if let Some(message) = stream.messages.remove(&number) {
                    stream.deleted.insert(number, message);
                }
                "a packet is deleted"
            }
            8 => {
                self.restore(&format!("PACKETS_{}", self.random.clone().below(self.partitions.into())));
                "a stream of packets is restored"
            }
            _ => {
                // As docs/scale.md requires, no worker runs. A worker that remembers a commit of the newer copy could mistake
                // another commit with the same number for it.
                let count = self.workers.len();
                for worker in self.workers.drain(..) {
                    let _ = worker.stop.send(());
                    let _ = worker.task.await;
                }
                self.restore("PACKETS_FINDINGS");
                (0..count).for_each(|_| self.start());
                "the findings are restored"
            }
        };
        self.acts.push(format!("{what} ({at})"));
    }

    async fn for_a_while(&mut self, at: usize, health: Health, pause: Duration) {
        if let Some(worker) = self.workers.get(at) {
            worker.client.set(health);
            sleep(pause).await;
            worker.client.set(Health::Connected);
        }
    }

    /// Removes the last messages of a stream.
    fn restore(&mut self, stream: &str) {
        self.is_restored = true;
        self.oracles.clear();
        let mut inner = self.world.inner();
        let stream = inner.streams.entry(stream.to_owned()).or_default();
        stream.epoch += 1;
        let left = stream.last.saturating_sub(self.random.below(12));
        stream.messages.retain(|number, _| *number <= left);
        stream.deleted.retain(|number, _| *number <= left);
        stream.last = left;
    }

    /// Returns the published findings of each partition, in order.
    fn found(&self) -> BTreeMap<u16, Vec<String>> {
        let inner = self.world.inner();
        let mut found: BTreeMap<u16, Vec<String>> = BTreeMap::new();
        for message in inner.streams.get("PACKETS_FINDINGS").iter().flat_map(|stream| stream.messages.values()) {
            let partition = message.subject.split('.').nth(2).and_then(|partition| partition.parse().ok());
            let lines = std::str::from_utf8(&message.body).unwrap_or_default().lines().map(str::to_owned);
            found.entry(partition.unwrap_or(u16::MAX)).or_default().extend(lines);
        }
        found
    }

    /// Returns the expected findings of each partition. One judge reads its stream once, before anything is deleted.
    fn expected(&mut self) -> &BTreeMap<u16, Oracle> {
        let inner = self.world.inner();
        for partition in 0..self.partitions {
            let name = format!("PACKETS_{partition}");
            let oracle = self.oracles.entry(partition).or_insert_with(|| Oracle {
                judge: Judge::new(&name, (partition, self.partitions), ValidatorOptions::default()),
                findings: Vec::new(),
            });
            let Some(stream) = inner.streams.get(&name) else { continue };
            let after = oracle.judge.sequence + 1;
            let all: BTreeMap<_, _> = stream.messages.range(after..).chain(stream.deleted.range(after..)).collect();
            let mut findings = Vec::new();
            all.values().for_each(|message| oracle.judge.take(IncomingMessage::from_stored(message), &mut findings));
            let lines = findings.into_iter().map(|finding| String::from_utf8(finding.body).expect("JSON is text"));
            oracle.findings.extend(lines);
        }
        drop(inner);
        &self.oracles
    }

    /// Returns a description of a wrong finding, if any: one that is unexpected, repeated or out of order.
    fn wrong(&mut self) -> Option<String> {
        let (found, none) = (self.found(), Vec::new());
        self.expected().iter().find_map(|(partition, Oracle { findings: expected, .. })| {
            let found = found.get(partition).unwrap_or(&none);
            let at = found.iter().zip(expected).position(|(found, expected)| found != expected);
            let at = at.or((found.len() > expected.len()).then_some(expected.len()))?;
            Some(format!(
                "partition {partition}, finding {at} of {}: found {:?}, expected {:?} of {}",
                found.len(),
                found.get(at),
                expected.get(at),
                expected.len()
            ))
        })
    }

    /// Returns whether all expected findings are published.
    fn is_complete(&mut self) -> bool {
        let found = self.found();
        self.expected()
            .iter()
            .all(|(partition, oracle)| found.get(partition).map_or(0, Vec::len) == oracle.findings.len())
    }

    fn explain(&self, seed: u64, why: &str) -> String {
        let said = self.logs.lines();
        let heads = self.world.inner().streams.get("KV_PACKETS_STATE").map_or(Vec::new(), |state| {
            let heads = state.messages.values().filter(|message| message.subject.contains("checkpoint"));
            heads.map(|message| String::from_utf8_lossy(&message.body).into_owned()).collect()
        });
        format!(
            "seed {seed} ({} partitions, ttl {:?}): {why}\n{:#?}\n{said:#?}\n{heads:#?}",
            self.partitions, self.ttl, self.acts
        )
    }
}

/// Runs a seed. Returns a hash of everything stored and the number of findings, or a description of the failure.
fn run(seed: u64, is_destructive: bool) -> Result<(u64, usize), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime").block_on(async {
        let mut run = Run::new(seed);
        for _ in 0..=run.random.below(3) {
            run.start();
        }
        let logs: Vec<String> = (0..=run.random.below(2)).map(|number| log(&mut run.random, seed, number)).collect();
        let publishing: Vec<_> = (0..).zip(logs).map(|(number, log)| run.publish(number, log)).collect();
        for _ in 0..run.random.below(6) + 1 {
            let pause = run.random.millis(3_000);
            sleep(pause).await;
            run.act(is_destructive).await;
            if !run.is_restored
                && let Some(wrong) = run.wrong()
            {
                return Err(run.explain(seed, &wrong));
            }
        }
        for one in publishing {
            one.await.map_err(|panic| run.explain(seed, &panic.to_string()))?;
        }
        // Nothing is published again later.
        for pause in [0, 8] {
            sleep(Duration::from_secs(pause)).await;
            let begin = Instant::now();
            while !run.is_complete() && begin.elapsed() < if run.is_refused() { SOON } else { PATIENCE } {
                sleep(Duration::from_secs(1)).await;
            }
        }
        run.finish(seed).await
    })
}

impl Run {
    /// Returns whether a worker has reported that it cannot continue because the server has lost data.
    fn is_refused(&self) -> bool {
        let refusals = ["deleted before", "another stream", "restored from"];
        refusals.iter().any(|why| self.logs.find(&[why]).is_some())
    }

    async fn finish(mut self, seed: u64) -> Result<(u64, usize), String> {
        let refused = self.is_refused();
        // Where a stream was restored, a worker stops, and findings remain about messages that the stream has lost.
        let is_explained = refused && self.is_restored;
        if let Some(wrong) = self.wrong().filter(|_| !is_explained) {
            return Err(self.explain(seed, &wrong));
        }
        if !self.is_complete() && !refused {
            let found: Vec<usize> = self.found().values().map(Vec::len).collect();
            let expected: Vec<usize> = self.expected().values().map(|oracle| oracle.findings.len()).collect();
            let why = format!("found {found:?} of {expected:?} findings, without any explanation");
            return Err(self.explain(seed, &why));
        }
        for worker in self.workers.drain(..) {
            let _ = worker.stop.send(());
            // A worker whose partition has stopped may report that it could not commit earlier findings.
            if let Err(panic) = worker.task.await {
                return Err(format!("seed {seed}: a worker panicked: {panic}"));
            }
        }
        Ok((self.world.trace(), self.found().values().map(Vec::len).sum()))
    }
}

/// Returns a log of a few examples with interleaved and sometimes damaged lines.
fn log(random: &mut Random, seed: u64, number: u64) -> String {
    let examples: Vec<&str> =
        omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl")).map(|(_, text)| *text).collect();
    let mut sources: Vec<Vec<String>> = (0..random.below(3) + 1)
        .map(|at| {
            let id = format!("\"correlation_id\":\"corr_{seed}_{number}_{at}_");
            let example = examples[usize::try_from(random.below(examples.len() as u64)).unwrap_or(0)];
            example.lines().rev().map(|line| line.replace("\"correlation_id\":\"corr_", &id)).collect()
        })
        .collect();
    let mut log = String::new();
    while !sources.is_empty() {
        let at = usize::try_from(random.below(sources.len() as u64)).unwrap_or(0);
        let Some(line) = sources[at].pop() else {
            drop(sources.swap_remove(at));
            continue;
        };
        let half = line.floor_char_boundary(line.len() / 2);
        match random.below(16) {
            0 if !log.is_empty() => log.push_str(&line[..half]),
            1 if !log.is_empty() => log.push_str(&line.replacen("\"payload\"", "\"pay\"", 1)),
            _ => log.push_str(&line),
        }
        log.push('\n');
    }
    log
}

/// Time limit of a run, far longer than any run needs; it is simulated time.
const PATIENCE: Duration = Duration::from_secs(300);

/// Maximum time within which undisturbed processes make progress.
const SOON: Duration = Duration::from_secs(15);

/// Returns the seeds to try.
fn seeds(of: u64) -> std::ops::Range<u64> {
    let number = |variable: &str| std::env::var(variable).ok().map(|text| text.parse::<u64>().expect(variable));
    match number("OMEN_TEST_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("OMEN_TEST_SEEDS").unwrap_or(of),
    }
}

fn all(of: u64, is_destructive: bool) {
    let mut findings = 0;
    for seed in seeds(of) {
        match run(seed, is_destructive) {
            Ok((_, found)) => findings += found,
            Err(why) => panic!("{why}"),
        }
    }
    assert!(findings > 0);
}

#[test]
fn whatever_dies_and_is_lost_everything_is_found_once() {
    all(Proofs::wanted().choose(200, 2_000), false);
}

#[test]
fn what_the_server_forgets_is_found_or_refused() {
    all(Proofs::wanted().choose(200, 2_000), true);
}

#[test]
fn a_seed_gives_the_same_run() {
    for seed in 0..20 {
        assert_eq!(run(seed, seed.is_multiple_of(2)), run(seed, seed.is_multiple_of(2)));
    }
}
