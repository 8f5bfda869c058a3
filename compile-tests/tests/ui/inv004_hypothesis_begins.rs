// INV-004: an episode that starts with a hypothesis -> E0277
use omen::*;

fn begin(id: CorrelationId, guess: &Hypothesis<LowStakes, Par, ToolsOk>, clock: impl TimeSource) -> Setup {
    Setup::new(id, guess, clock)
}

fn main() {}
