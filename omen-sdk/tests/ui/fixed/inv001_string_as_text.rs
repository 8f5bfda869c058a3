// INV-001: the string is checked, for it may be empty
use omen::*;

fn agent(summary: String) -> Result<(), Invalid> {
    let _ = Intent::new(Text::new(summary)?, text!("database orders"));
    Ok(())
}

fn main() {}
