// PG-6: a task of an episode is run twice -> E0382
use omen_fsm::episode::*;
use omen_gate::Gate;

async fn agent(gate: &Gate, task: Pending) -> [Settled; 2] {
    [gate.run(task).await, gate.run(task).await]
}

fn main() {}
