// INV-006: run one arbitration for each ruling
use omen::*;

fn agent(none: NothingLeft, other: NothingLeft, why: Text) {
    let _ = (none.instead(Tradeoff::SafetyFirst, &why), other.instead(Tradeoff::MinRegret, &why));
}

fn main() {}
