// PG-6: what the gate has done counts in two episodes -> E0382
use omen_fsm::episode::*;
use omen_gate::Gate;

async fn agent(gate: &Gate, task: Pending, one: Episode<Open<Execute, 1>>, other: Episode<Open<Execute, 1>>) {
    let result = gate.run(task).await;
    let _ = (one.settle([result]), other.settle([result]));
}

fn main() {}
