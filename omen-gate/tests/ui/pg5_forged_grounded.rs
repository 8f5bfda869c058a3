// PG-5: a summary is declared grounded -> E0451
use omen_gate::summary::{Grounded, Summary};

fn agent(summary: Summary) -> Grounded {
    Grounded { summary }
}

fn main() {}
