// INV-003: acting at HIGH stakes with a lowered tier -> E0277
use omen::*;

fn agent(episode: Episode<Model>, order: ActOrder<AllVerified>, (intent, done): (Intent, Done), seen: Evidence<Live>) {
    let quality = Quality::par(text!("the pool is 80"), ["pool.max == 80"]);
    let _ = episode.act(order, &OpenEnvelope::high(intent, done, seen).quality(quality).seal());
}

fn main() {}
