// INV-008: a loop that was taken up again, closed without a look at how far it is -> E0277
use omen::*;

fn agent(episode: Episode<AnyLoop>) {
    let _ = episode.believe(Belief::new("db", "pool.max", 50));
}

fn main() {}
