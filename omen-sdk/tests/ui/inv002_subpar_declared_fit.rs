// INV-002: a rule that is bent for SUBPAR -> E0117
use omen::*;

impl TierMayAct for Subpar {}

fn main() {}
