// SCHEMA: data without a member, past the macro that asks for one -> E0423
use omen::*;

fn agent() -> Fields {
    Fields(Default::default())
}

fn main() {}
