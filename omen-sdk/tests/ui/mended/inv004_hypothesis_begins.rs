// INV-004: it begins with what was seen
use omen::prelude::*;

fn begin(id: CorrelationId, seen: &Envelope<LowStakes, Par, ToolsOk>, clock: impl Clock) -> Setup {
    Setup::new(id, seen, clock)
}

fn main() {}
