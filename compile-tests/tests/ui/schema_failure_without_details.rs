// SCHEMA: the result of a failed task without error details -> E0277
use omen::packet::{PacketId, TaskId, TaskResultPayload};

fn agent(task: TaskId, directive: PacketId) -> TaskResultPayload {
    TaskResultPayload::failure().task_id(task).directive_packet_id(directive).build()
}

fn main() {}
