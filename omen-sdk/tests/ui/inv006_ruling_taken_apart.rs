// INV-006: a ruling is taken apart, to make another of it -> E0451
use omen::prelude::*;

fn agent(ruling: Ruling) {
    let Ruling { kind: _, .. } = ruling;
}

fn main() {}
