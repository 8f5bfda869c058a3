// PG-6: each gate has a task of its own
use omen_fsm::episode::*;
use omen_gate::Gate;

async fn agent([one, other]: [&Gate; 2], first: Pending, second: Pending) {
    let _ = (one.run(first).await, other.run(second).await);
}

fn main() {}
