// PG-6: the gate takes it
use omen_fsm::episode::*;
use omen_gate::Gate;

async fn agent(gate: &Gate, task: Pending) -> Settled {
    gate.run(task).await
}

fn main() {}
