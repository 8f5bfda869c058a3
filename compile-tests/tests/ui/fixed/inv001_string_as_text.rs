// INV-001: check the string
use omen::*;

fn agent(summary: String) -> Result<(), Invalid> {
    let _ = Intent::new(Text::new(summary)?, text!("database orders"));
    Ok(())
}

fn main() {}
