// FSM: an episode moved into two threads -> E0382
use omen::prelude::*;

fn agent(episode: Episode<Sense>, seen: Observation<Observed>) {
    let one = std::thread::spawn(move || drop(episode.observe(seen)));
    let two = std::thread::spawn(move || drop(episode.halt(text!("too slow"))));
    let _ = (one.join(), two.join());
}

fn main() {}
