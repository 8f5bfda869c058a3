//! A program without the new required member: it must not compile.

use omen_types::{ObservationPayload, ObservationType};

fn main() {
    let _ = ObservationPayload::builder()
        .observation_type(ObservationType::ToolOutput)
        .data(serde_json::Map::new())
        .build();
}
