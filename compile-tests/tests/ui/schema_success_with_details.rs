// SCHEMA: the result of a successful task with error details -> E0277
use omen::packet::{ErrorDetails, PacketId, TaskId, TaskResultPayload};

fn agent(task: TaskId, directive: PacketId, details: ErrorDetails) -> TaskResultPayload {
    TaskResultPayload::success().task_id(task).directive_packet_id(directive).error_details(details).build()
}

fn main() {}
