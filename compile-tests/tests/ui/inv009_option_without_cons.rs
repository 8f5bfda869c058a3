// INV-009: an option without cons -> E0063
use omen::prelude::*;

fn agent() {
    let _ = Choice { id: "raise".into(), description: "raise the pool".into(), pros: vec!["quick".into()] };
}

fn main() {}
