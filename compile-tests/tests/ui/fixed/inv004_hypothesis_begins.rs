// INV-004: start with an envelope that has evidence
use omen::*;

fn begin(id: CorrelationId, seen: &Envelope<LowStakes, Par, ToolsOk>, clock: impl TimeSource) -> Setup {
    Setup::new(id, seen, clock)
}

fn main() {}
