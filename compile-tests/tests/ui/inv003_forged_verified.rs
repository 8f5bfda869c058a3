// INV-003: a forged verified assumption -> E0451
use omen::*;

fn agent(ruling: Ruling, verified: Verified) {
    let other = Verified { assumption: "it is fine".into(), ..verified };
    let _ = ruling.to_act().relies_on(other);
}

fn main() {}
