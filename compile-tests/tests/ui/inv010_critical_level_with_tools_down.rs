// INV-010: acting with tools down in an envelope of CRITICAL stakes -> E0277
use omen::*;

fn agent(episode: Episode<Model>, order: ActOrder<AllVerified>, (intent, done): (Intent, Done), seen: Evidence<Live>) {
    let _ = episode.act(order, &OpenEnvelope::critical(intent, done, seen).tools(ToolsDown).seal());
}

fn main() {}
