// E6: a task parsed from a text -> E0599
use omen::prelude::*;
use serde::Deserialize;

fn agent(text: &mut serde_json::Deserializer<serde_json::de::StrRead<'_>>) -> Option<Pending> {
    Pending::deserialize(text).ok()
}

fn main() {}
