// INV-006: two rulings on one arbitration -> E0382
use omen::*;

fn agent(none: NothingLeft, why: Text) {
    let _ = (none.instead(Tradeoff::SafetyFirst, &why), none.instead(Tradeoff::MinRegret, &why));
}

fn main() {}
