// SCHEMA: a tier of one's own that may act -> E0277
use omen::*;

struct Perfect;

impl TierMayAct for Perfect {}

fn main() {}
