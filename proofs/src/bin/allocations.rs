//! Counts allocations for the benchmark, with an allocator that is slower because it counts.

use std::alloc::System;
use std::error::Error;
use std::io::Write as _;

use omen_proofs::bench::allocations;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let counts = allocations::count(2_000, || {
        let stats = ALLOCATOR.stats();
        stats.allocations + stats.reallocations
    })?;
    writeln!(std::io::stdout(), "{}", serde_json::to_string(&counts)?)?;
    Ok(())
}
