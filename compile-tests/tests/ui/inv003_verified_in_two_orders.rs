// INV-003: one verified assumption for two decisions -> E0382
use omen::*;

fn agent([one, two]: [Ruling; 2], verified: Verified) {
    let _ = (one.to_act().relies_on(verified), two.to_act().relies_on(verified));
}

fn main() {}
