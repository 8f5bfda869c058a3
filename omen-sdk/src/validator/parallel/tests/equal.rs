//! Tests that every call of the sink, and the counts, are the same as with one thread.

use omen_testkit::proofs::Proofs;

use super::*;
use crate::validator::random_logs::{Random, examples, of_another_episode, random};

/// Returns the report of one thread, and its counts before and after the end.
fn expected(log: &[u8], options: &ValidatorOptions, with_packets: bool) -> (Vec<String>, [Summary; 2]) {
    let mut sink = Calls::with_packets(with_packets);
    let mut validator = one_thread(options);
    validator.feed(log, &mut sink).expect("room");
    let before = validator.summary();
    let after = validator.finish(&mut sink).expect("room");
    (sink.calls, [before, after])
}

/// How the bytes are passed to the validator.
#[derive(Clone, Copy, Debug)]
enum Input {
    Whole,
    Chunks(usize),
    Reader(usize),
}

fn found(
    log: &[u8],
    input: Input,
    mut validator: ParallelValidator,
    with_packets: bool,
) -> (Vec<String>, [Summary; 2]) {
    let mut sink = Calls::with_packets(with_packets);
    match input {
        Input::Whole => validator.feed(log, &mut sink).expect("room"),
        Input::Chunks(size) => log.chunks(size).for_each(|chunk| validator.feed(chunk, &mut sink).expect("room")),
        Input::Reader(size) => validator.read(Pieces(log.to_vec(), size), &mut sink).expect("room"),
    }
    let before = validator.summary();
    let after = validator.finish(&mut sink).expect("room");
    (sink.calls, [before, after])
}

/// Reader that returns few bytes at a time.
struct Pieces(Vec<u8>, usize);

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.1.min(self.0.len()).min(buffer.len());
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0.drain(..count);
        Ok(count)
    }
}

/// Reports of one thread on a log, without and with packets.
struct ExpectedReports<'l> {
    name: String,
    log: &'l [u8],
    options: ValidatorOptions,
    without: (Vec<String>, [Summary; 2]),
    with: (Vec<String>, [Summary; 2]),
}

impl<'l> ExpectedReports<'l> {
    fn new(name: String, log: &'l [u8], options: ValidatorOptions) -> Self {
        let (without, with) = (expected(log, &options, false), expected(log, &options, true));
        Self { name, log, options, without, with }
    }

    #[track_caller]
    fn compare(&self, input: Input, block_bytes: usize, jobs: usize, with_packets: bool) {
        let expected = if with_packets { &self.with } else { &self.without };
        let found = found(self.log, input, threads(jobs, block_bytes, &self.options), with_packets);
        if *expected == found {
            return;
        }
        let differ = expected.0.iter().zip(&found.0).find(|(expected, found)| expected != found);
        panic!(
            "{}, {jobs} threads, blocks of {block_bytes}, {input:?}: {:?} and {:?}, {} and {} calls, {differ:#?}",
            self.name,
            expected.1,
            found.1,
            expected.0.len(),
            found.0.len()
        );
    }
}

#[test]
fn every_example_is_reported_as_by_one_thread() {
    for (index, log) in examples().iter().enumerate() {
        let expected = ExpectedReports::new(format!("example {index}"), log.as_bytes(), ValidatorOptions::default());
        for jobs in 1..=8 {
            let input = [Input::Whole, Input::Chunks(700), Input::Reader(1000)][(index + jobs) % 3];
            expected.compare(input, 512, jobs, (index + jobs) % 4 == 0);
        }
    }
}

/// A thousand logs, or a quarter of them by default: many logs expose mistakes in sharing the work.
#[test]
fn every_random_log_is_reported_as_by_one_thread() {
    let (examples, mut total) = (examples(), Summary::default());
    let (logs, most) = Proofs::wanted().choose((250, 1250), (1000, 5000));
    for seed in 0..logs {
        let log = random(seed, &examples);
        let mut random = Random::new(seed);
        let mut options = ValidatorOptions::default();
        if seed % 5 == 0 {
            options.now = Some("2026-05-07T03:00:16Z".parse().expect("a time"));
        }
        if seed % 7 == 0 {
            options.levels.set(crate::Code::Inv012, Level::Deny).expect("an invariant");
            options.levels.set(crate::Code::Layer, Level::Allow).expect("a warning");
        }
        let expected = ExpectedReports::new(format!("seed {seed}"), &log, options);
        for jobs in 1..=8 {
            let size = 1 + random.below(6000);
            let input = [Input::Whole, Input::Whole, Input::Chunks(size), Input::Reader(size)][random.below(4)];
            expected.compare(input, 64 + random.below(4000), jobs, random.below(3) == 0);
        }
        total += expected.without.1[1];
    }
    let is_enough = [total.accepted, total.rejected, 3 * total.episodes].into_iter().all(|count| count > most);
    assert!(is_enough, "{total:?}");
}

#[test]
fn blocks_with_more_than_may_wait_are_reported_as_by_one_thread() {
    let good = omen_schema::example("valid/interleaved.jsonl").expect("an example");
    let mut log = String::new();
    for line in good.lines() {
        let _ = write!(log, "{line}\n{}\n\n{}", "x\n".repeat(700), "{\"header\":{}}\n".repeat(300));
    }
    log.push_str("[]");
    let expected = ExpectedReports::new("junk".to_owned(), log.as_bytes(), ValidatorOptions::default());
    for block_bytes in [1000, 5000, 20_000] {
        assert!(log.len() > 3 * block_bytes);
        for jobs in [1, 2, 5] {
            expected.compare(Input::Whole, block_bytes, jobs, jobs == 2);
        }
    }
}

#[test]
fn what_is_late_is_reported_in_the_order_in_which_the_episodes_began() {
    let log = omen_schema::example("valid/warning-inv-011-late-result.jsonl").expect("an example");
    let begun: Vec<_> = log.lines().take(4).collect();
    let mut all = String::new();
    for episode in 0..40 {
        for line in &begun {
            let part = format!("{}_", episode * 7 % 40);
            let _ = writeln!(all, "{}", of_another_episode(line, &part));
        }
    }
    let (options, later) = (ValidatorOptions::default(), "2030-01-01T00:00:00Z".parse().expect("a time"));
    let (mut one, mut expected) = (one_thread(&options), Calls::default());
    one.feed(all.as_bytes(), &mut expected).expect("room");
    one.tick(later, &mut expected).expect("room");
    assert_eq!(expected.calls.len(), 40, "{:?}", expected.calls.first());
    let summary = one.finish(&mut expected).expect("room");
    assert_eq!((summary.episodes, summary.rejected), (40, 0));
    for jobs in 1..=8 {
        let (mut validator, mut found) = (threads(jobs, 512, &options), Calls::default());
        validator.feed(all.as_bytes(), &mut found).expect("room");
        validator.tick(later, &mut found).expect("room");
        // All episodes are open at the end, regardless of which thread finds that.
        let all = shard::order(&validator.threads.shards);
        assert_eq!(all.len(), 40);
        assert_eq!(shard::open(&validator.threads.shards, &options, jobs), all);
        assert_eq!(validator.finish(&mut found), Ok(summary));
        assert_eq!(found.calls, expected.calls, "{jobs} threads");
    }
}
