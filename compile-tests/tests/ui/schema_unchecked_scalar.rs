// SCHEMA: the unchecked constructor of scalars called from outside -> E0603
use omen::*;

fn agent() -> TokenId {
    <TokenId as omen_types::scalar::FromChecked<String>>::trusted("whatever".to_owned())
}

fn main() {}
