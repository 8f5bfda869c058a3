// INV-004: it begins with what was seen
use omen::*;

fn begin(id: CorrelationId, seen: &Envelope<LowStakes, Par, ToolsOk>, clock: impl TimeSource) -> Setup {
    Setup::new(id, seen, clock)
}

fn main() {}
