// INV-009: what speaks against it, too
use omen::prelude::*;

fn agent() {
    let (pros, cons) = (vec!["quick".into()], vec!["it may not last".into()]);
    let _ = Choice { id: "raise".into(), description: "raise the pool".into(), pros, cons };
}

fn main() {}
