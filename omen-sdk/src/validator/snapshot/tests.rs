//! Tests that a restored validator reports the same as one that was never interrupted.

use omen_testkit::proofs::Proofs;

use super::super::{Level, Summary, Validator, ValidatorOptions};
use super::{BadSnapshot, MAGIC};
use crate::Finding;
use crate::validator::random_logs::{Random, examples, of_another_episode, random};

fn text(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|finding| format!("{finding:?}")).collect()
}

/// Returns the report on a log. If `is_interrupted`, the validator is restored from a snapshot after each piece.
fn reported<'l>(pieces: impl IntoIterator<Item = &'l [u8]>, is_interrupted: bool) -> (Vec<String>, Summary) {
    let mut findings: Vec<Finding> = Vec::new();
    let mut validator = Validator::new(ValidatorOptions::default());
    for piece in pieces {
        let Ok(()) = validator.feed(piece, &mut findings);
        if is_interrupted {
            let bytes = validator.snapshot();
            validator = Validator::restore(&bytes, ValidatorOptions::default()).expect("a snapshot");
            assert!(validator.snapshot() == bytes, "the same validator has the same snapshot");
        }
    }
    let Ok(summary) = validator.finish(&mut findings);
    (text(&findings), summary)
}

#[test]
fn every_example_can_be_interrupted_after_every_line() {
    for log in examples() {
        let lines = || log.split_inclusive('\n').map(str::as_bytes);
        assert_eq!(reported(lines(), true), reported(lines(), false));
    }
}

#[test]
fn random_logs_can_be_interrupted_anywhere() {
    let examples = examples();
    let (mut random_cut, mut consequences) = (Random::new(7), 0);
    for seed in 0..1_000 {
        let log = random(seed, &examples);
        let (first, rest) = log.split_at(random_cut.below(log.len() + 1));
        let (second, third) = rest.split_at(random_cut.below(rest.len() + 1));
        let expected = reported([&*log], false);
        assert_eq!(reported([first, second, third], true), expected, "log {seed}");
        consequences += expected.1.consequences;
    }
    assert!(consequences > 100, "{consequences}");
}

#[test]
fn large_episodes_can_be_interrupted() {
    // More directives and ids than are ever packed while an episode is idle.
    let example = omen_schema::example("valid/read-only.jsonl").expect("an example");
    let directive = example.lines().find(|line| line.contains("\"TaskDirectivePacket\"")).expect("a directive");
    let before: String = example.split_inclusive('\n').take_while(|line| !line.contains("TaskDirective")).collect();
    let facts = omen_types::PacketFacts::parse(directive).expect("a packet");
    let id = facts.header.packet_id.to_string();
    let omen_types::PayloadFacts::TaskDirective(task) = &facts.payload else { panic!("a directive") };
    let many = (0..400).map(|number| {
        let line = directive.replace(&format!("\"{id}\""), &format!("\"{id}_{number}\""));
        line.replace(&format!("\"{}\"", task.task_id), &format!("\"{}_{number}\"", task.task_id)) + "\n"
    });
    let log = many.fold(before, |log, line| log + &line);
    let pieces = || log.as_bytes().chunks(20_000);
    let expected = reported(pieces(), false);
    assert!(expected.0.len() >= 400, "all are open at the end: {}", expected.0.len());
    assert_eq!(reported(pieces(), true), expected);
}

/// Returns a validator that is in the middle of several episodes with rejected packets.
fn busy(seed: usize) -> Validator {
    let examples = examples();
    let mut log = Vec::new();
    for at in 0..3 {
        let part = of_another_episode(examples[(31 * seed + 17 * at) % examples.len()], &format!("{at}_"));
        log.extend(random((seed * 3 + at) as u64, &examples));
        log.extend(part.as_bytes());
    }
    log.truncate(log.len() * (1 + seed % 3) / 4);
    let mut validator = Validator::new(ValidatorOptions::default());
    let Ok(()) = validator.feed(&log, &mut Vec::<Finding>::new());
    validator
}

/// Damages each byte of the snapshots of two hundred validators, or of thirty by default.
#[test]
fn damage_is_found_wherever_it_is() {
    let (snapshots, mut damaged) = (Proofs::wanted().choose(30, 200), 0);
    for seed in 0..snapshots {
        let sound = busy(seed).snapshot();
        assert!(Validator::restore(&sound, ValidatorOptions::default()).is_ok());
        let mut bytes = sound.clone();
        for at in 0..bytes.len() {
            bytes[at] ^= 1 << (at % 8);
            let expected = match at {
                _ if at < MAGIC.len() => BadSnapshot::NotASnapshot,
                _ if at == MAGIC.len() => BadSnapshot::Version(bytes[at]),
                _ => BadSnapshot::Damaged,
            };
            assert_eq!(Validator::restore(&bytes, ValidatorOptions::default()).err(), Some(expected), "byte {at}");
            bytes[at] = sound[at];
            damaged += 1;
        }
        for end in (0..sound.len()).step_by(7) {
            assert!(Validator::restore(&sound[..end], ValidatorOptions::default()).is_err(), "{end} bytes");
        }
        let longer = [&*sound, b"\0"].concat();
        assert_eq!(Validator::restore(&longer, ValidatorOptions::default()).err(), Some(BadSnapshot::Damaged));
    }
    assert!(damaged > 500 * snapshots, "{damaged} bytes of {snapshots} snapshots");
}

#[test]
fn a_snapshot_is_for_the_same_options() {
    let mut options = ValidatorOptions::default();
    options.levels.set(omen_types::Code::Inv011, Level::Deny).expect("adjustable");
    let other = Validator::new(options.clone()).snapshot();
    assert!(Validator::restore(&other, options).is_ok());
    assert_eq!(Validator::restore(&other, ValidatorOptions::default()).err(), Some(BadSnapshot::Options));
}
