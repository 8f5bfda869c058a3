// INV-002: a foreign impl that allows SUBPAR to act -> E0117
use omen::*;

impl TierMayAct for Subpar {}

fn main() {}
