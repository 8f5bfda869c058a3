// E3: close the loop with a belief update first
use omen::packet::DecisionOutcome;
use omen::*;

fn agent(episode: Episode<Verify<Proven, Seen, ToolsOk>>, order: ActOrder<AllVerified>, envelope: &DynEnvelope) {
    let (episode, _proof) = episode.believe(Belief::new("db", "pool.max", 50));
    let _ = episode.decide(DecisionOutcome::Cancel, order, envelope);
}

fn main() {}
