// PG-6: it has closed
use omen_fsm::episode::*;
use omen_gate::Gate;

fn agent(gate: &Gate, episode: Episode<Review>) -> Option<()> {
    gate.closed(&episode.close().ok()?);
    Some(())
}

fn main() {}
