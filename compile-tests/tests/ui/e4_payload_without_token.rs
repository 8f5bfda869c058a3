// E4: the payload of a directive that writes without a token -> E0277
use omen::packet::{ExecutionMethod, TaskDirectivePayload, TaskType};

fn agent(method: ExecutionMethod, task: omen::packet::TaskId) -> TaskDirectivePayload {
    let writes = TaskDirectivePayload::write().task_id(task).task_type(TaskType::ToolWrite);
    writes.execution_method(method).build()
}

fn main() {}
