// INV-001: check the text at run time
use omen::*;

fn agent(summary: &'static str) -> Result<(), Invalid> {
    let _ = Intent::new(Text::new(summary)?, text!("database orders"));
    Ok(())
}

fn main() {}
