//! Tests that deferred packets are judged as if they had been judged immediately.

use std::convert::Infallible;

use omen_testkit::proofs::Proofs;

use super::super::{Sink, Summary, Validator, ValidatorOptions};
use super::RootCauses;
use crate::Finding;
use crate::validator::random_logs::{examples, of_another_episode, random};

/// Sink that collects findings as text.
#[derive(Debug, Default)]
struct Texts(Vec<String>);

impl Sink for Texts {
    type Error = Infallible;

    fn finding(&mut self, finding: Finding, _: Option<&str>) -> Result<(), Infallible> {
        self.0.push(format!("{finding:?}"));
        Ok(())
    }
}

/// Returns the findings on a log if `room` bytes may be deferred, with a tick after every `tick` pieces.
fn reported(log: &[u8], room: usize, tick: usize) -> (Vec<String>, Summary, usize) {
    let mut validator = Validator::new(ValidatorOptions::default());
    validator.judge.root_causes = RootCauses::with_room(room);
    let mut texts = Texts::default();
    let mut waited = 0;
    for (at, bytes) in log.chunks(500).enumerate() {
        let Ok(()) = validator.feed(bytes, &mut texts);
        waited += room - validator.judge.root_causes.room;
        if (at + 1) % tick == 0 {
            let Ok(()) = validator.tick("2026-03-01T10:05:00Z".parse().expect("a time"), &mut texts);
        }
    }
    let Ok(summary) = validator.finish(&mut texts);
    (texts.0, summary, waited)
}

/// Six hundred random logs and twenty long ones, or a quarter of them by default.
#[test]
fn how_much_may_wait_makes_no_difference() {
    let examples = examples();
    let (many, long, consequences_least, waited_least) =
        Proofs::wanted().choose((150, 5, 125, 250_000), (600, 20, 500, 1_000_000));
    let mut logs: Vec<Vec<u8>> = (0..many).map(|seed| random(seed, &examples)).collect();
    // Episodes that continue long after their first rejected packets.
    for seed in 0..long {
        let part = |at: usize| of_another_episode(examples[(7 * at + seed) % examples.len()], &format!("{}_", at % 3));
        logs.push((0..40).map(part).collect::<String>().into_bytes());
    }
    let (mut consequences, mut all_waited) = (0, 0);
    for (at, log) in logs.iter().enumerate() {
        for tick in [usize::MAX, 7] {
            let (at_once, summary, waited) = reported(log, 0, tick);
            assert_eq!(waited, 0);
            consequences += summary.consequences;
            for room in [3_000, 20_000, 8 << 20] {
                let (later, of_later, waited) = reported(log, room, tick);
                all_waited += waited;
                assert_eq!(at_once, later, "log {at}, room for {room} bytes, tick {tick}");
                assert_eq!(summary, of_later);
            }
        }
    }
    assert!(
        consequences > consequences_least && all_waited > waited_least,
        "{consequences} consequences, {all_waited} bytes waited"
    );
}

#[test]
fn what_waits_takes_up_the_room_and_gives_it_back() {
    let mut validator = Validator::new(ValidatorOptions::default());
    let log = omen_schema::example("invalid/e1-decision-before-belief.jsonl").expect("an example");
    let mut texts = Texts::default();
    let Ok(()) = validator.feed(log.as_bytes(), &mut texts);
    let room = validator.judge.root_causes.room;
    assert!(room < RootCauses::default().room);
    let first = omen_types::PacketFacts::parse(log.lines().next().expect("a packet")).expect("a valid packet");
    let Ok(ended) = validator.end_episode(&first.header.correlation_id, &mut texts);
    assert!(ended);
    assert_eq!(validator.judge.root_causes.room, RootCauses::default().room);
}

#[test]
fn a_validator_of_many_keeps_its_share() {
    let examples = examples();
    let log: Vec<u8> = (0..30).flat_map(|seed| random(seed, &examples)).collect();
    let (first, rest) = log.split_at(log.len() / 2);
    let reported = |parts: Option<usize>| {
        let share = |validator: Validator| parts.into_iter().fold(validator, Validator::one_of);
        let mut texts = Texts::default();
        let mut validator = share(Validator::new(ValidatorOptions::default()));
        let Ok(()) = validator.feed(first, &mut texts);
        let room = validator.judge.root_causes.room;
        // Deferred packets and episodes are kept if the memory limit is reduced later.
        let mut validator = share(validator);
        assert_eq!(room, validator.judge.root_causes.room);
        let restored = Validator::restore(&validator.snapshot(), ValidatorOptions::default());
        let mut validator = share(restored.expect("a snapshot"));
        let Ok(()) = validator.feed(rest, &mut texts);
        let Ok(summary) = validator.finish(&mut texts);
        (texts.0, summary, room)
    };
    let (whole, summary, room) = reported(None);
    let (share, of_share, less) = reported(Some(64));
    assert!(less < room / 32, "{less} of {room}");
    assert!(summary.rejected > 10 && (whole, summary) == (share, of_share));
}
