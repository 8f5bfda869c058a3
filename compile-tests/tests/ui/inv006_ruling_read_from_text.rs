// INV-006: a ruling parsed from a text -> E0599
use omen::prelude::*;
use serde::Deserialize;

fn agent(text: &mut serde_json::Deserializer<serde_json::de::StrRead<'_>>) -> Option<Ruling> {
    Ruling::deserialize(text).ok()
}

fn main() {}
