// PG-6: two gates run one task -> E0382
use omen_fsm::episode::*;
use omen_gate::Gate;

async fn agent(one: &Gate, other: &Gate, task: Pending) {
    let _ = (one.run(task).await, other.run(task).await);
}

fn main() {}
