// SCHEMA: use `failure`
use omen::packet::{ErrorDetails, PacketId, TaskId, TaskResultPayload};

fn agent(task: TaskId, directive: PacketId, details: ErrorDetails) -> TaskResultPayload {
    TaskResultPayload::failure().task_id(task).directive_packet_id(directive).error_details(details).build()
}

fn main() {}
