// INV-003: a verified assumption that no loop has verified -> E0451
use omen::*;

fn agent(ruling: Ruling, verified: Verified) {
    let other = Verified { assumption: "it is fine".into(), ..verified };
    let _ = ruling.to_act().relies_on(other);
}

fn main() {}
