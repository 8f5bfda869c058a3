// SCHEMA: add the error details
use omen::packet::{ErrorDetails, PacketId, TaskId, TaskResultPayload};

fn agent(task: TaskId, directive: PacketId) -> TaskResultPayload {
    let details = ErrorDetails::builder().error_message("the pool is gone").build();
    TaskResultPayload::failure().task_id(task).directive_packet_id(directive).error_details(details).build()
}

fn main() {}
