// PG-6: a task is cancelled that was given to the gate -> E0382
use omen_fsm::episode::*;
use omen_gate::Gate;

async fn agent(gate: &Gate, task: Pending) -> Settled {
    let _called = gate.run(task);
    task.cancelled()
}

fn main() {}
