// A3: who is to verify the log is given the key's file, and nobody else
use omen_gate::audit::{Key, KeyError};

fn auditor() -> Result<Key, KeyError> {
    Key::from_file("audit.key")
}

fn main() {}
