// INV-006: a forged `NothingLeft` -> E0451
use omen::*;

fn agent() -> Ruling<Withdrawn> {
    let none = NothingLeft { stage: "constitutional veto", rejected: Vec::new() };
    none.instead(Tradeoff::SafetyFirst, &text!("nothing was left"))
}

fn main() {}
