// INV-001: a confidence above 1 -> E0080
use omen::*;

fn agent() {
    let _ = Epistemics::new(Observed, Realtime, unit!(1.5), text!("read just now"));
}

fn main() {}
