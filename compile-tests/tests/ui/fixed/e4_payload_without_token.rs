// E4: set the token
use omen::packet::{ExecutionMethod, TaskDirectivePayload, TaskType};

fn agent(method: ExecutionMethod, task: omen::packet::TaskId, token: omen::TokenId) -> TaskDirectivePayload {
    let writes = TaskDirectivePayload::write().task_id(task).task_type(TaskType::ToolWrite);
    writes.execution_method(method).authorization_token_id(token).build()
}

fn main() {}
