// SCHEMA: a directive that reads, with a task type that writes -> E0277
use omen::packet::{TaskDirectivePayload, TaskType};

fn agent() {
    let _ = TaskDirectivePayload::read().task_type(TaskType::ToolWrite);
}

fn main() {}
