// PG-6: a task is run whose handle was used to begin it -> E0382
use omen_fsm::episode::*;
use omen_gate::Gate;

async fn agent(gate: &Gate, task: Pending) -> Settled {
    let _mine = task.start();
    gate.run(task).await
}

fn main() {}
