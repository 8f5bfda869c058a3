//! Mutated events: what is read as a call is the call that any other reader of JSON finds there.

use omen_hook::{Dialect, Event};
use omen_testkit::proofs::Proofs;
use serde_json::Value;

use crate::samples::{after, before, read};

/// Bytes of an event with one change.
fn mutated(random: &mut fastrand::Rng, event: &[u8]) -> Vec<u8> {
    let mut bytes = event.to_vec();
    let (at, other) = (random.usize(..bytes.len()), random.usize(..bytes.len()));
    match random.u8(..7) {
        0 => bytes[at] = random.u8(..),
        1 => bytes[at] ^= 1 << random.u8(..8),
        2 => drop(bytes.remove(at)),
        3 => bytes.insert(at, *random.choice(b"{}[]\",:\\0x \n").unwrap()),
        4 => bytes.truncate(at),
        5 => drop(bytes.splice(at..at, event[at.min(other)..at.max(other)].to_vec())),
        _ => drop(bytes.drain(at.min(other)..at.max(other))),
    }
    bytes
}

#[test]
fn no_mutated_event_is_read_as_another_call() {
    let mut random = fastrand::Rng::with_seed(35);
    let (mut calls, mut refused) = (0, 0);
    let agents: Vec<_> = Dialect::agents().collect();
    for round in 0..Proofs::wanted().choose(10_000_usize, 100_000) {
        let agent = agents[round % agents.len()];
        let event = if random.bool() { before(agent, "git status") } else { after(agent, "git status") };
        let mut bytes = event.to_string().into_bytes();
        for _ in 0..random.usize(1..4) {
            if !bytes.is_empty() {
                bytes = mutated(&mut random, &bytes);
            }
        }
        let Ok(text) = String::from_utf8(bytes) else { continue };
        match read(agent, &text) {
            Ok(Event::Before(call)) => {
                calls += 1;
                let other: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
                let input = if agent == "opencode" { "args" } else { "tool_input" };
                let tool = if agent == "opencode" { "tool" } else { "tool_name" };
                assert_eq!(other[input].as_object(), Some(&call.input), "{text}");
                assert_eq!(other[tool], call.tool, "{text}");
            }
            Ok(_) => {}
            Err(_) => refused += 1,
        }
    }
    println!("{calls} calls, {refused} refused");
    assert!(calls > 100 && refused > 1000, "{calls} {refused}");
}
