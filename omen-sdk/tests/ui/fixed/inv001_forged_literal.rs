// INV-001: the constant is checked
use omen::*;

fn agent() -> Option<Text> {
    Text::literal("drain pool 7").map(Text::from)
}

fn main() {}
