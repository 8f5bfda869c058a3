//! Proposals: whatever a model proposes, the log of the episode is legal, also at the end.

use omen::{Allow, AnyEpisode, Finding, OnDrop, Severity, Stage, Validator, ValidatorOptions};
use omen_fsm::Event;
use omen_types::{Code, PacketFacts};

use super::script::{self, Item};
use super::world::{World, envelope, outline, proposed};

/// The episode that proposals are made to.
pub(super) const EPISODE: &str = "corr_fuzz";

/// Proposes packets. The first line may choose what the model may do, and what is written when the episode is dropped: `!`, and one byte.
pub fn propose(input: &[u8]) {
    let (choice, input) = match input {
        [b'!', choice, rest @ ..] => (*choice, rest.strip_prefix(b"\n").unwrap_or(rest)),
        _ => (0x1f, input),
    };
    let items = script::read(input);
    let lines = || items.iter().filter_map(|item| if let Item::Line(line) = item { Some(&**line) } else { None });
    let on_drop = [OnDrop::Cancel, OnDrop::Halt, OnDrop::Escalate, OnDrop::Cancel][usize::from(choice >> 5 & 3)];
    let (allow, world) = (allowance(choice), World::default());
    let Some(envelope) = envelope(lines()) else { return };
    let Some(setup) = world.setup(EPISODE, &envelope, on_drop) else { return };
    let Ok(episode) = setup.start() else { return };
    let mut episode = episode.into_any();
    for item in &items {
        let line = match item {
            Item::Line(line) => line,
            Item::Time(now) => {
                world.set_time(*now);
                continue;
            }
            Item::Cut => {
                let Some(setup) = world.copy().setup(EPISODE, &envelope, OnDrop::Leave) else { return };
                let lines = episode.lines().to_vec();
                let resumed = AnyEpisode::resume(setup, lines.iter().map(String::as_str));
                let resumed = resumed.unwrap_or_else(|error| panic!("its own log does not resume: {error}"));
                assert_eq!(outline(&resumed), outline(&episode), "it resumes in another state");
                continue;
            }
        };
        episode = step(&world, episode, allow, line);
    }
    drop(episode);
    legal(&world.lines());
}

fn allowance(choice: u8) -> Allow {
    let ways = [Allow::tokens, Allow::user_input, Allow::results, Allow::alerts, Allow::understated_stakes];
    (0..).zip(ways).filter(|(bit, _)| choice & (1 << bit) != 0).fold(Allow::moves(), |allow, (_, way)| way(allow))
}

/// Makes one proposal.
fn step(world: &World, episode: AnyEpisode, allow: Allow, line: &[u8]) -> AnyEpisode {
    let Some(proposal) = proposed(line) else { return episode };
    if let Some(at) = proposal.at {
        world.set_time(at);
    }
    if let Some(id) = proposal.packet_id {
        world.set_next(id);
    }
    let (offered, before, was) = (episode.moves_for(allow), episode.lines().len(), outline(&episode));
    match episode.propose_with(allow, &proposal.text) {
        Ok(moved) => {
            let lines = moved.episode.lines();
            assert_eq!(lines.len(), before + 1, "a move is one packet");
            let line = &lines[before];
            let facts = PacketFacts::parse(line).unwrap_or_else(|rejected| panic!("{rejected}: {line}"));
            let event = Event::of(&facts);
            assert!(offered.contains(&event), "`{event}` was made but had not been offered: {line}");
            assert_eq!(facts.header.packet_id, moved.packet_id.as_str());
            moved.episode
        }
        Err(refused) => {
            assert!(!refused.why.findings().is_empty(), "refused without a finding: {}", refused.why);
            assert!(refused.why.findings().iter().all(|found| found.severity == Severity::Error), "{}", refused.why);
            assert_eq!(refused.episode.lines().len(), before, "refused, but written");
            assert_eq!(outline(&refused.episode), was, "refused, but moved");
            refused.episode
        }
    }
}

/// The validator has nothing against a log that the typed API has written.
fn legal(lines: &[String]) {
    let mut findings: Vec<Finding> = Vec::new();
    let mut validator = Validator::new(ValidatorOptions::default());
    for line in lines {
        let Ok(()) = validator.feed(format!("{line}\n").as_bytes(), &mut findings);
    }
    let Ok(summary) = validator.finish(&mut findings);
    let is_fault = |found: &&Finding| {
        // What the payload of a proposal names is the model's; what links packets is the episode's.
        let is_of_payload = found.diagnostic.pointer.as_deref().is_some_and(|pointer| pointer.starts_with("/payload/"));
        // At the end, CHAIN is about the observation that a result names.
        let is_link = found.diagnostic.code == Code::Chain && !is_of_payload && found.stage != Stage::End;
        let is_own = found.diagnostic.code == Code::Layer || is_link;
        found.diagnostic.severity == Severity::Error || is_own
    };
    if let Some(found) = findings.iter().find(is_fault) {
        panic!("the validator reports: {}\n{}", found.diagnostic, lines.join("\n"));
    }
    assert_eq!((summary.accepted, summary.rejected), (lines.len() as u64, 0));
}
