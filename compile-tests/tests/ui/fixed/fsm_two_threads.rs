// FSM: pass the episode between the threads
use omen::prelude::*;

fn agent(episode: Episode<Sense>, seen: Observation<Observed>) -> Option<Episode<SafeMode>> {
    let one = std::thread::spawn(move || episode.observe(seen));
    Some(one.join().ok()?.halt(text!("too slow")))
}

fn main() {}
