//! Model on loopback that makes given calls, in the forms of four vendors, as server-sent events.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// Call of a tool: its name and arguments. Arguments that are a text are those of a tool without members.
#[derive(Clone)]
pub(super) struct ModelCall(pub(super) &'static str, pub(super) Value);

/// Model that makes one call in each answer, and says "done" when the request has the results of all.
pub(super) struct StubModel {
    pub(super) url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl StubModel {
    pub(super) fn start(calls: Vec<ModelCall>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (noted, calls) = (Arc::clone(&noted), calls.clone());
                std::thread::spawn(move || respond(stream, &calls, &noted));
            }
        });
        Self { url, requests }
    }

    /// Whether a request showed the model a text.
    pub(super) fn was_shown(&self, text: &str) -> bool {
        self.requests.lock().unwrap().iter().any(|request| request.contains(text))
    }
}

/// Answers one request, and closes the connection.
fn respond(mut stream: TcpStream, calls: &[ModelCall], noted: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).unwrap_or(0) == 0 {
            return;
        }
    }
    let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    let path = head.split(['?', ' ']).nth(1).unwrap_or_default();
    let (status, text) = match serde_json::from_slice(&body) {
        Ok(request) => ("200 OK", answer(path, &request, calls).iter().map(event).collect()),
        Err(_) => ("404 Not Found", String::new()),
    };
    noted.lock().unwrap().push(String::from_utf8(body).unwrap());
    let length = text.len();
    // An agent that has ended does not read the answer.
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/event-stream\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}"
    );
}

/// Event of a stream. Those that have a type are named after it.
fn event(data: &Value) -> String {
    let name = data["type"].as_str().map(|name| format!("event: {name}\n")).unwrap_or_default();
    format!("{name}data: {data}\n\n")
}

/// Number of objects in a value that are the result of a call.
fn results(value: &Value) -> usize {
    let is_result = |members: &serde_json::Map<String, Value>| {
        let kind = members.get("type").and_then(Value::as_str).unwrap_or_default();
        let role = members.get("role").and_then(Value::as_str).unwrap_or_default();
        kind == "tool_result"
            || kind.ends_with("_call_output")
            || role == "tool"
            || members.contains_key("functionResponse")
    };
    match value {
        Value::Array(values) => values.iter().map(results).sum(),
        Value::Object(members) if is_result(members) => 1,
        Value::Object(members) => members.values().map(results).sum(),
        _ => 0,
    }
}

/// Data of the events that answer a request, in the form of its path.
fn answer(path: &str, request: &Value, calls: &[ModelCall]) -> Vec<Value> {
    let number = results(request);
    // Without tools it is a request for a title or a summary.
    let call = calls.get(number).filter(|_| request["tools"].is_array());
    match path.rsplit('/').next().unwrap_or_default() {
        "messages" => messages(number, call),
        "responses" => responses(number, call),
        "completions" => completions(number, call),
        _ => vec![generated(call)],
    }
}

/// Messages of Anthropic.
fn messages(number: usize, call: Option<&ModelCall>) -> Vec<Value> {
    let (block, delta, reason) = match call {
        Some(ModelCall(name, args)) => (
            json!({"type": "tool_use", "id": format!("toolu_{number}"), "name": name, "input": {}}),
            json!({"type": "input_json_delta", "partial_json": args.to_string()}),
            "tool_use",
        ),
        None => (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": "done"}), "end_turn"),
    };
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    vec![
        json!({"type": "message_start", "message": {"id": format!("msg_{number}"), "type": "message", "role": "assistant",
            "model": "stub", "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage}}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": usage}),
        json!({"type": "message_stop"}),
    ]
}

/// Responses of OpenAI.
fn responses(number: usize, call: Option<&ModelCall>) -> Vec<Value> {
    let (id, call_id) = (format!("item_{number}"), format!("call_{number}"));
    let item = match call {
        Some(ModelCall(name, Value::String(input))) => {
            json!({"type": "custom_tool_call", "id": id, "call_id": call_id, "name": name, "input": input})
        }
        Some(ModelCall(name, args)) => {
            let args = args.to_string();
            json!({"type": "function_call", "id": id, "call_id": call_id, "name": name, "arguments": args})
        }
        None => json!({"type": "message", "id": id, "role": "assistant",
            "content": [{"type": "output_text", "text": "done", "annotations": []}]}),
    };
    let id = format!("resp_{number}");
    let usage = json!({"input_tokens": 1, "output_tokens": 1, "total_tokens": 2});
    vec![
        json!({"type": "response.created", "response": {"id": id}}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": {"id": id, "output": [item], "usage": usage}}),
    ]
}

/// Chat completions of OpenAI.
fn completions(number: usize, call: Option<&ModelCall>) -> Vec<Value> {
    let (delta, reason) = match call {
        Some(ModelCall(name, args)) => {
            let function = json!({"name": name, "arguments": args.to_string()});
            let calls = json!([{"index": 0, "id": format!("call_{number}"), "type": "function", "function": function}]);
            (json!({"role": "assistant", "tool_calls": calls}), "tool_calls")
        }
        None => (json!({"role": "assistant", "content": "done"}), "stop"),
    };
    let chunk = |delta: Value, reason: Value| {
        json!({"id": format!("c{number}"), "object": "chat.completion.chunk", "created": 1, "model": "stub",
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
    };
    vec![chunk(delta, Value::Null), chunk(json!({}), json!(reason))]
}

/// Content of Gemini.
fn generated(call: Option<&ModelCall>) -> Value {
    let part = match call {
        Some(ModelCall(name, args)) => json!({"functionCall": {"name": name, "args": args}}),
        None => json!({"text": "done"}),
    };
    json!({"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}})
}
