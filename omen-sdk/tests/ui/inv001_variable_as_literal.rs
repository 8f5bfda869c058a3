// INV-001: a text that is known at run time, where a constant is due -> E0435
use omen::prelude::*;

fn agent(summary: &'static str) -> usize {
    let _ = Intent::new(text!(summary), text!("database orders"));
    summary.len()
}

fn main() {}
