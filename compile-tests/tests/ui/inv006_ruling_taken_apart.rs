// INV-006: a ruling rebuilt from its parts -> E0451
use omen::prelude::*;

fn agent(ruling: Ruling) {
    let Ruling { kind: _, .. } = ruling;
}

fn main() {}
