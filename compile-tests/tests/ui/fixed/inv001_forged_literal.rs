// INV-001: use `text!`
use omen::*;

fn agent() -> Option<Text> {
    Text::literal("drain pool 7").map(Text::from)
}

fn main() {}
