// PG-6: a task is lent to the gate, to be used again -> E0308
use omen_fsm::episode::*;
use omen_gate::Gate;

async fn agent(gate: &Gate, task: &Pending) -> Settled {
    gate.run(task).await
}

fn main() {}
