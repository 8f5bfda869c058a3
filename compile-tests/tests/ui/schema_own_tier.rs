// SCHEMA: a quality tier defined by the program -> E0277
use omen::*;

struct Perfect;

impl TierMayAct for Perfect {}

fn main() {}
