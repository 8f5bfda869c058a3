// INV-001: a variable in `text!` -> E0435
use omen::prelude::*;

fn agent(summary: &'static str) -> usize {
    let _ = Intent::new(text!(summary), text!("database orders"));
    summary.len()
}

fn main() {}
