// FSM: call the closure in a state where its move is legal
use omen::*;

fn stop(episode: Episode<Model>, why: Ruling, envelope: &Envelope<LowStakes, Par, ToolsOk>) -> Episode<Decide<Stop>> {
    let stop = |episode: Episode<_>, why| episode.cancel(why, envelope);
    stop(episode, why)
}

fn main() {}
