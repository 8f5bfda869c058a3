//! Uses of members of an observation that only the changed schema has.

use std::io::BufRead as _;

use omen_types::{Diagnostic, Lighting, ObservationPayload, ObservationType, Packet, SampleSize};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let builder = || -> Result<_, Box<dyn std::error::Error>> {
        Ok(ObservationPayload::builder()
            .observation_type(ObservationType::ToolOutput)
            .data(serde_json::Map::from_iter([("value".to_owned(), 1.into())]))
            .sample_size(SampleSize::new(12)?)
            .lighting(Lighting::Night)
            .r#type("glance")
            .self_("me"))
    };
    let built = builder()?.witnesses(vec!["the cat".to_owned()]).build()?;
    println!("built {}", serde_json::to_string(&built)?);
    report("checked", builder()?.witnesses(Vec::new()).build().map_or_else(|refused| refused.errors, |_| Vec::new()));
    println!("bounds {} to {}", SampleSize::MIN, SampleSize::MAX);
    println!("new {}", SampleSize::new(1001).is_ok());
    for line in std::io::stdin().lock().lines() {
        match line?.parse::<Packet>() {
            Ok(packet) => println!("accepted {}", packet.header().packet_id),
            Err(rejected) => report("refused", rejected.errors),
        }
    }
    Ok(())
}

fn report(verdict: &str, errors: Vec<Diagnostic>) {
    let places: Vec<_> = errors.iter().map(|error| error.pointer.as_deref().unwrap_or("-")).collect();
    println!("{verdict} {}", places.join(" "));
    for error in errors {
        println!("  {}", error.message);
    }
}
