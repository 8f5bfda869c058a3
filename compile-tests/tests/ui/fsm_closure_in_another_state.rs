// FSM: a closure called in a state where its move is illegal -> E0277
use omen::*;

fn stop(episode: Episode<Sense>, why: Ruling, envelope: &Envelope<LowStakes, Par, ToolsOk>) {
    let stop = |episode: Episode<_>, why| episode.cancel(why, envelope);
    let _ = stop(episode, why);
}

fn main() {}
