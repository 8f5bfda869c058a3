//! Resuming: an episode that continues from a part of its log behaves like one that was never interrupted.

use omen::{Allow, AnyEpisode, OnDrop};
use omen_fsm::Machine;
use omen_types::{Packet, PacketFacts};

use super::propose::EPISODE;
use super::script::{self, Item};
use super::world::{World, envelope, outline, proposed};

/// Resumes episodes: that of a log, and those that proposals make. Each cut in the script interrupts.
pub fn resume(input: &[u8]) {
    let items = script::read(input);
    of_a_log(&items);
    of_proposals(&items);
}

/// An episode resumes if and only if the machine accepts every line of it, and is then where the machine is.
fn of_a_log(items: &[Item]) {
    let lines: Option<Vec<&str>> = items
        .iter()
        .filter_map(|item| if let Item::Line(line) = item { Some(std::str::from_utf8(line).ok()) } else { None })
        .collect();
    let Some(lines) = lines else { return };
    let id = lines.iter().find_map(|line| Some(PacketFacts::parse(line).ok()?.header.correlation_id.into_owned()));
    let Some(id) = id else { return };
    let (machine, fault) = judged(&id, &lines);
    let world = World::default();
    let Some(envelope) = envelope(lines.iter().map(|line| line.as_bytes())) else { return };
    let Some(setup) = world.setup(&id, &envelope, OnDrop::Leave) else { return };
    match AnyEpisode::resume(setup, lines.iter().copied()) {
        Ok(episode) => {
            assert_eq!(fault, None, "it resumes, but line {fault:?} is rejected");
            assert_eq!(episode.nodes(), machine.nodes());
            assert_eq!(episode.tasks().len(), machine.ledger().open().len());
        }
        Err(error) => assert_eq!(fault, Some(error.line), "it does not resume: {error}"),
    }
    assert!(world.lines().is_empty(), "the lines are not written again");
}

/// Judges the lines of an episode, by a machine and by one that is packed after each line; the first line that is rejected.
fn judged(id: &str, lines: &[&str]) -> (Machine, Option<usize>) {
    let (mut machine, mut packed) = (Machine::default(), Machine::default());
    for (number, line) in (1..).zip(lines).filter(|(_, line)| !line.trim().is_empty()) {
        if line.parse::<Packet>().is_err() {
            return (machine, Some(number));
        }
        let Ok(facts) = PacketFacts::parse(line) else { return (machine, Some(number)) };
        if facts.header.correlation_id != id {
            continue;
        }
        let verdict = machine.judge(&facts, None);
        assert_eq!(format!("{verdict:?}"), format!("{:?}", packed.judge(&facts, None)), "packed, it judges otherwise");
        if verdict.errors().next().is_some() {
            return (machine, Some(number));
        }
        machine.accept(&facts, &verdict);
        packed.accept(&facts, &verdict);
        if let Some(small) = packed.pack(id, &mut Vec::new()) {
            packed = small.unpack();
        }
        assert_eq!(format!("{:?}", machine.finish()), format!("{:?}", packed.finish()), "packed, it ends otherwise");
    }
    (machine, None)
}

/// Every proposal to an episode has the same result if the episode was resumed before.
fn of_proposals(items: &[Item]) {
    let lines = items.iter().filter_map(|item| if let Item::Line(line) = item { Some(&**line) } else { None });
    let world = World::default();
    let Some(envelope) = envelope(lines) else { return };
    let Some(setup) = world.setup(EPISODE, &envelope, OnDrop::Leave) else { return };
    let Ok(episode) = setup.start() else { return };
    let mut kept = episode.into_any();
    // The latest handle that was resumed, with its surroundings.
    let mut other: Option<(World, AnyEpisode)> = None;
    for item in items {
        match item {
            Item::Time(now) => {
                world.set_time(*now);
                if let Some((world, _)) = &other {
                    world.set_time(*now);
                }
            }
            Item::Cut => {
                let own = world.copy();
                let Some(setup) = own.setup(EPISODE, &envelope, OnDrop::Leave) else { return };
                let resumed = AnyEpisode::resume(setup, world.lines().iter().map(String::as_str));
                let resumed = resumed.unwrap_or_else(|error| panic!("its own log does not resume: {error}"));
                assert_eq!(outline(&resumed), outline(&kept), "it resumes in another state");
                other = Some((own, resumed));
            }
            Item::Line(line) => {
                let (episode, result) = step(&world, kept, line);
                kept = episode;
                other = other.map(|(own, episode)| {
                    let (episode, resumed) = step(&own, episode, line);
                    assert_eq!(resumed, result, "resumed, it takes a proposal otherwise");
                    assert_eq!(outline(&episode), outline(&kept), "resumed, it goes elsewhere");
                    (own, episode)
                });
            }
        }
    }
}

/// Makes a proposal; the line that was written, or why none was.
fn step(world: &World, episode: AnyEpisode, line: &[u8]) -> (AnyEpisode, Result<Option<String>, String>) {
    let Some(proposal) = proposed(line) else { return (episode, Ok(None)) };
    if let Some(at) = proposal.at {
        world.set_time(at);
    }
    if let Some(id) = proposal.packet_id {
        world.set_next(id);
    }
    match episode.propose_with(Allow::everything(), &proposal.text) {
        Ok(moved) => (moved.episode, Ok(world.lines().pop())),
        Err(refused) => (refused.episode, Err(format!("{:?}", refused.why))),
    }
}
