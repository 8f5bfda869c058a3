// INV-005: a cloned override -> E0599
use omen::prelude::*;

fn agent(alert: Alert) -> [Alert; 2] {
    [alert.clone(), alert]
}

fn main() {}
