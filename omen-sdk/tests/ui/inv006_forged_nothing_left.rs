// INV-006: no stage ran, and a ruling is made of that -> E0451
use omen::*;

fn agent() -> Ruling<Withdrawn> {
    let none = NothingLeft { stage: "constitutional veto", rejected: Vec::new() };
    none.instead(Tradeoff::SafetyFirst, &text!("nothing was left"))
}

fn main() {}
