//! `omen new`: prints a template for the next packet of a log, derived from the schema.

use std::io::Write as _;

use omen_fsm::Event;
use omen_types::{Instant, Packet, PacketFacts, QualityTier};
use serde_json::Value;

use crate::args::NewArgs;
use crate::exit::{Exit, Failure, complain, unreadable};
use crate::input;
use crate::output::Output;

mod episode;
mod fields;

use episode::{Episode, Unread};

pub(crate) fn run(args: &NewArgs, out: &mut Output) -> Result<Exit, Failure> {
    let mut episode = match &args.after {
        None => Episode::default(),
        Some(path) => match Episode::read(path, args.line, args.episode.as_deref()) {
            Ok(episode) => episode,
            Err(Unread::Input(error)) => {
                return Err(unreadable(format_args!("cannot read {}: {error}", input::name(path))));
            }
            Err(Unread::NoEpisode(hint)) => return Err(Failure::Usage(hint)),
        },
    };
    for event in &args.names {
        let (line, refusal) = next(*event, &mut episode)?;
        if let Some(refusal) = refusal.filter(|_| args.after.is_some()) {
            complain(format_args!("note: {event} is not legal here yet: {refusal}"));
        }
        writeln!(out, "{line}")?;
    }
    out.flush()?;
    Ok(Exit::Clean)
}

/// Returns the next packet of an episode, and the reason why the episode does not accept it, if it does not.
fn next(event: Event, episode: &mut Episode) -> Result<(String, Option<String>), Failure> {
    let broken = |error: &dyn std::fmt::Display| Failure::Internal(format!("the skeleton of {event}: {error}"));
    let Some(packet_type) = event.packet_type() else { return Err(broken(&"it has no packet")) };
    let skeleton = Packet::skeleton(packet_type).map_err(|rejected| broken(&rejected))?;
    let start = skeleton.header().created_at.instant();
    let mut value = serde_json::to_value(&skeleton).map_err(|error| broken(&error))?;
    fields::guard(event, &mut value)?;
    // The lowest number that might give unused ids.
    let mut number = episode.packets + 1;
    let mut tiers = QualityTier::ALL.iter();
    loop {
        let line = complete(event, &mut value, episode, start, number).map_err(|error| broken(&error))?;
        let facts = PacketFacts::parse(&line).map_err(|rejected| broken(&rejected))?;
        if episode.repeats(&facts) {
            number += 1;
            continue;
        }
        // ACT requires a tier high enough for the stakes of the episode.
        if event == Event::DecideAct
            && episode.refuses(&facts)
            && let Some(tier) = tiers.next()
        {
            fields::tier(&mut value, *tier);
            continue;
        }
        let refusal = episode.take(&line, &facts);
        return Ok((line, refusal));
    }
}

/// Completes a packet, and serializes it with its fields in schema order.
fn complete(event: Event, value: &mut Value, episode: &Episode, start: Instant, number: u64) -> Result<String, String> {
    fields::fill(event, value, episode, start, number);
    let packet: Packet = value.to_string().parse().map_err(|rejected| format!("{rejected}"))?;
    serde_json::to_string(&packet).map_err(|error| error.to_string())
}
