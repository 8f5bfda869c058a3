// SCHEMA: the schema has one for a text
use omen::*;

fn agent(text: &str) -> Result<Text, Invalid> {
    Text::new(text)
}

fn main() {}
