// SCHEMA: forged fields -> E0423
use omen::*;

fn agent() -> Fields {
    Fields(Default::default())
}

fn main() {}
