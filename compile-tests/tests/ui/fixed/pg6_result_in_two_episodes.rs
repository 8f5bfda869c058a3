// PG-6: it counts in its own
use omen_fsm::episode::*;
use omen_gate::Gate;

async fn agent(gate: &Gate, task: Pending, episode: Episode<Open<Execute, 1>>) {
    let result = gate.run(task).await;
    let _ = episode.settle([result]);
}

fn main() {}
