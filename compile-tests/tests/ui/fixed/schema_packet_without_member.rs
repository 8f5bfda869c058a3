// SCHEMA: set the member
use omen::*;

fn agent(data: Fields) {
    let _ = omen::packet::ObservationPayload::builder()
        .observation_type(ObservationType::UserInput)
        .data(data.into_map())
        .build();
}

fn main() {}
