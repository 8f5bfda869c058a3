// INV-012: a stakes level as a field -> E0560
use omen::*;

fn agent() {
    let (impact, irreversibility) = (impact::Low, irreversibility::Partial);
    let (uncertainty, adversariality) = (uncertainty::Low, adversariality::Benign);
    let _ = Stakes { stakes_level: LowStakes, impact, irreversibility, uncertainty, adversariality };
}

fn main() {}
