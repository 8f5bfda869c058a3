// INV-005: one override for two episodes -> E0382
use omen::prelude::*;

fn agent(one: Episode<Model>, other: Episode<Model>, alert: Alert) {
    let _ = (one.alert(alert), other.alert(alert));
}

fn main() {}
