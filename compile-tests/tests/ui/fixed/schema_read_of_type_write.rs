// SCHEMA: a task that writes names its token (D23)
use omen::packet::{ReadTaskType, TaskDirectivePayload, TaskType};

fn agent() {
    let _ = TaskDirectivePayload::read().task_type(ReadTaskType::ToolRead);
    let _ = TaskDirectivePayload::write().task_type(TaskType::ToolWrite);
}

fn main() {}
