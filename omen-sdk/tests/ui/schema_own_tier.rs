// SCHEMA: a tier of one's own that may act -> E0277
use omen::prelude::*;

struct Perfect;

impl TierMayAct for Perfect {}

fn main() {}
