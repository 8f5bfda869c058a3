// FSM: an episode used twice -> E0382
use omen::prelude::*;

fn agent(episode: Episode<Sense>, seen: Observation<Observed>) {
    let _ = (episode.observe(seen), episode.believe(Belief::new("db", "pool.max", 50)));
}

fn main() {}
