// SCHEMA: a packet's payload without a member that its schema asks for -> E0277
use omen::*;

fn agent() {
    let _ = omen::packet::ObservationPayload::builder().observation_type(ObservationType::UserInput).build();
}

fn main() {}
