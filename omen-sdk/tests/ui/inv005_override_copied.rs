// INV-005: an override is made into two -> E0599
use omen::prelude::*;

fn agent(alert: Alert) -> [Alert; 2] {
    [alert.clone(), alert]
}

fn main() {}
