// INV-012: let the level follow from the axes
use omen::*;

fn agent() {
    let (impact, irreversibility) = (impact::Low, irreversibility::Partial);
    let (uncertainty, adversariality) = (uncertainty::Low, adversariality::Benign);
    let _ = Stakes { impact, irreversibility, uncertainty, adversariality };
}

fn main() {}
