// PG-6: it is settled
use omen_fsm::episode::*;

fn agent(episode: Episode<Open<Execute, 1>>, result: Settled) -> Option<Episode<Execute>> {
    episode.settle([result]).ok()
}

fn main() {}
