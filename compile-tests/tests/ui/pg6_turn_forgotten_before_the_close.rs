// PG-6: what an episode has called is forgotten while it goes on -> E0308
use omen_fsm::episode::*;
use omen_gate::Gate;

fn agent(gate: &Gate, episode: &Episode<Review>) {
    gate.closed(episode);
}

fn main() {}
