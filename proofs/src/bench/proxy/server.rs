//! A server that answers at once, so that only the cost of the protocol remains.

use std::io::{BufRead, Write};

use serde_json::{Value, json};

/// Number of tools that it lists: about as many as the official file server.
const TOOLS: u32 = 14;

/// Answers the requests of a client until the client closes its end.
///
/// # Errors
/// If a line cannot be read or written.
pub fn serve(input: impl BufRead, mut output: impl Write) -> std::io::Result<()> {
    let list = json!({ "tools": (0..TOOLS).map(tool).collect::<Vec<_>>() });
    for line in input.lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line?) else { continue };
        let (Some(id), Some(method)) = (message.get("id"), message.get("method").and_then(Value::as_str)) else {
            continue;
        };
        let params = message.get("params").unwrap_or(&Value::Null);
        let result = match method {
            "initialize" => json!({
                "protocolVersion": params.get("protocolVersion"), "capabilities": { "tools": {} },
                "serverInfo": { "name": "stand-in", "version": "1" },
            }),
            "tools/list" => list.clone(),
            _ => json!({ "content": [{ "type": "text", "text": format!("{params}") }] }),
        };
        let mut line = json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string();
        line.push('\n');
        output.write_all(line.as_bytes())?;
        output.flush()?;
    }
    Ok(())
}

fn tool(number: u32) -> Value {
    let described = |what: &str| json!({ "type": "string", "description": format!("The {what} of the setting.") });
    json!({
        "name": format!("get_{number}"),
        "title": format!("Read setting {number}"),
        "description": "Reads a setting as it is now, with the time at which it was last changed and who changed it. \
                        Works within the settings that this server may read, and nowhere else.",
        "inputSchema": {
            "type": "object",
            "properties": { "key": described("name"), "path": described("place") },
            "required": ["key"],
            "$schema": "http://json-schema.org/draft-07/schema#",
        },
        "annotations": { "readOnlyHint": true },
    })
}
