// INV-010: escalate instead
use omen::*;

fn agent(episode: Episode<Model>, ruling: Ruling, (intent, done): (Intent, Done), seen: Evidence<Live>) {
    let _ = episode.to_escalate(ruling, &OpenEnvelope::critical(intent, done, seen).tools(ToolsDown).seal());
}

fn main() {}
