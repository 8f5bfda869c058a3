// INV-010: an envelope of CRITICAL stakes acts though its tools are down -> E0277
use omen::*;

fn agent(episode: Episode<Model>, order: ActOrder<AllVerified>, (intent, done): (Intent, Done), seen: Evidence<Live>) {
    let _ = episode.act(order, &OpenEnvelope::critical(intent, done, seen).tools(ToolsDown).seal());
}

fn main() {}
