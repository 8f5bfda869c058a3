// SCHEMA: use `Text`
use omen::*;

fn agent(text: &str) -> Result<Text, Invalid> {
    Text::new(text)
}

fn main() {}
