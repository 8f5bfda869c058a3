// E6: a forged task -> E0451
use omen::*;

fn agent(task: Pending, correlation_id: CorrelationId) -> Pending {
    Pending { correlation_id, ..task }
}

fn main() {}
