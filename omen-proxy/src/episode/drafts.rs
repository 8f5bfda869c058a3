//! Payloads that the proxy writes itself: calls, tokens, results, and observations.

use omen_fsm::sender;
use omen_gate::bounded;
use omen_types::packet::{
    AuthorizedScope, Count, ErrorDetails, ExecutionMetadata, ExecutionMethod, ObservationPayload, ObservationType,
    PacketId, PacketType, PositiveCount, ReadTaskType, ReliabilityMetadata, TaskDirectivePayload, TaskId,
    TaskResultPayload, TaskType, Text, Timestamp, TokenId, ToolAuthorizationPayload,
};
use serde_json::{Map, Value, json};

use super::call_facts::CallFacts;
use super::decided_tools::Scope;
use super::outcome::Outcome;

/// Returns a token for one call that a decision names.
pub(super) fn token(token_id: &TokenId, scope: Scope, expiry: Timestamp, rationale: &str) -> Value {
    let scope = AuthorizedScope::builder().tool_ids(scope.tools).operation_types(scope.operations);
    let payload = ToolAuthorizationPayload::builder()
        .token_id(token_id.clone())
        .authorized_scope(scope.unchecked())
        .expiry(expiry)
        .max_usage_count(PositiveCount::from(std::num::NonZeroU32::MIN))
        .issuer_layer(sender(PacketType::ToolAuthorizationToken))
        .maybe_rationale(Text::new(rationale).ok())
        .build();
    json!(payload)
}

/// Returns the directive of a call, with the given part of its arguments. With a token, it is a directive that writes.
pub(super) fn directive(
    task_id: &TaskId,
    call: &CallFacts,
    params: Option<Map<String, Value>>,
    token: Option<&TokenId>,
    in_loop: bool,
) -> Value {
    let method = ExecutionMethod::tool().tool_id(call.tool.clone()).maybe_tool_params(params).build();
    match token {
        Some(token) => json!(
            TaskDirectivePayload::write()
                .task_id(task_id.clone())
                .task_type(TaskType::ToolWrite)
                .execution_method(method)
                .authorization_token_id(token.clone())
                .timeout_seconds(call.timeout)
                .build()
        ),
        None => json!(
            TaskDirectivePayload::read()
                .task_id(task_id.clone())
                .task_type(if in_loop { ReadTaskType::Verification } else { ReadTaskType::ToolRead })
                .execution_method(method)
                .timeout_seconds(call.timeout)
                .build()
        ),
    }
}

/// The directive of a call that the gate has not allowed: it names no token, whatever the tool can do.
pub(super) fn unpermitted(task_id: &TaskId, call: &CallFacts) -> Value {
    let method = ExecutionMethod::tool().tool_id(call.tool.clone());
    let method = method.maybe_tool_params(call.recordable.arguments().cloned()).build();
    let task_type = if call.writes { TaskType::ToolWrite } else { TaskType::ToolRead };
    json!(
        TaskDirectivePayload::unclassified()
            .task_id(task_id.clone())
            .task_type(task_type)
            .execution_method(method)
            .build()
    )
}

pub(super) fn result(task_id: &TaskId, directive: &PacketId, outcome: &Outcome) -> Value {
    // A call that may have run counts against the budget.
    let calls = Count::from(u32::from(outcome.counts()));
    let metadata = ExecutionMetadata::builder().tokens_used(Count::from(0)).tool_calls_used(calls).build();
    let (task_id, directive) = (task_id.clone(), directive.clone());
    match outcome {
        Outcome::Answered(answer) => json!(
            TaskResultPayload::success()
                .task_id(task_id)
                .directive_packet_id(directive)
                .result_data(answer.clone())
                .execution_metadata(metadata)
                .build()
        ),
        Outcome::Failed { details, .. } => json!(
            TaskResultPayload::failure()
                .task_id(task_id)
                .directive_packet_id(directive)
                .result_data(Value::Null)
                .error_details(details.clone())
                .execution_metadata(metadata)
                .build()
        ),
        Outcome::Cancelled { why, .. } => json!(
            TaskResultPayload::cancelled()
                .task_id(task_id)
                .directive_packet_id(directive)
                .result_data(Value::Null)
                .error_details(ErrorDetails::builder().error_message(why.as_str()).build())
                .execution_metadata(metadata)
                .build()
        ),
    }
}

/// Returns a result that uses one call of the budget, to be judged before the actual result exists.
pub(super) fn counted(task_id: &str, directive: &str) -> Option<(PacketType, Value)> {
    let outcome = Outcome::cancelled("it is not known yet");
    let payload = result(&task_id.parse().ok()?, &directive.parse().ok()?, &outcome);
    Some((PacketType::TaskResultPacket, payload))
}

/// Returns a tool's output as an observation. If the call has a directive, its result contains the whole output.
pub(super) fn output(call: &CallFacts, outcome: &Outcome, result: Option<&PacketId>) -> Value {
    let mut data = Map::new();
    data.insert("call".to_owned(), json!(call.hash));
    // The audit log lists the call under its turn.
    data.insert("turn".to_owned(), json!(call.turn.as_str()));
    match result {
        Some(result) => data.insert("result_packet_id".to_owned(), json!(result)),
        None => data.insert("output".to_owned(), outcome.data()),
    };
    let reliability = ReliabilityMetadata::builder().tool_success(outcome.is_success()).build();
    json!(
        ObservationPayload::builder()
            .observation_type(ObservationType::ToolOutput)
            .data(data)
            .source_tool(call.tool.clone())
            .maybe_query_params(call.recordable.arguments().cloned())
            .reliability_metadata(reliability)
            .unchecked()
    )
}

pub(super) fn observation(observation_type: ObservationType, data: Map<String, Value>) -> Value {
    json!(ObservationPayload::builder().observation_type(observation_type).data(data).unchecked())
}

/// Truncates a text to the length kept in a log.
pub(super) fn short(text: &str) -> String {
    bounded(text)
}
