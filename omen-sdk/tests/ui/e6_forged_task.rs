// E6: a task of another episode -> E0451
use omen::*;

fn agent(task: Pending, correlation_id: CorrelationId) -> Pending {
    Pending { correlation_id, ..task }
}

fn main() {}
