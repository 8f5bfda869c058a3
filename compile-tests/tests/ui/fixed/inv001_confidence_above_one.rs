// INV-001: a confidence between 0 and 1
use omen::*;

fn agent() {
    let _ = Epistemics::new(Observed, Realtime, unit!(0.9), text!("read just now"));
}

fn main() {}
