// INV-003: keep the tier of the level
use omen::*;

fn agent(episode: Episode<Model>, order: ActOrder<AllVerified>, (intent, done): (Intent, Done), seen: Evidence<Live>) {
    let _ = episode.act(order, &OpenEnvelope::high(intent, done, seen).seal());
}

fn main() {}
