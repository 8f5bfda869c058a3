// PG-5: a summary is declared grounded -> E0451
use omen_gate::summary::{GroundedSummary, Summary};

fn agent(summary: Summary) -> GroundedSummary {
    GroundedSummary { summary }
}

fn main() {}
