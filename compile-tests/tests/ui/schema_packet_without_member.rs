// SCHEMA: a payload without a required member -> E0277
use omen::*;

fn agent() {
    let _ = omen::packet::ObservationPayload::builder().observation_type(ObservationType::UserInput).build();
}

fn main() {}
