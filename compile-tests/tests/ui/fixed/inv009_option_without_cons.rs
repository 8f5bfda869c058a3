// INV-009: add cons
use omen::prelude::*;

fn agent() {
    let (pros, cons) = (vec!["quick".into()], vec!["it may not last".into()]);
    let _ = Choice { id: "raise".into(), description: "raise the pool".into(), pros, cons };
}

fn main() {}
