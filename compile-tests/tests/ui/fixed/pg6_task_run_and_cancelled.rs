// PG-6: the gate tells how it has ended
use omen_fsm::episode::*;
use omen_gate::Gate;

async fn agent(gate: &Gate, task: Pending) -> Settled {
    gate.run(task).await
}

fn main() {}
