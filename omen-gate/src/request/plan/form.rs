//! Members of a plan and their types.

use omen_types::suggest;
use serde_json::{Map, Value};

use super::refused::{kind, naming, quoting};
use super::{FinalAnswer, Plan, ToolCall};
use crate::base::{BadName, Blocked, GateCode, ServerName, ToolId, ToolName, bounded};

pub(super) fn plan(mut members: Map<String, Value>) -> Result<Plan, Blocked> {
    match tag(&mut members)? {
        CALL_TOOL => call(members),
        _ => answer(members),
    }
}

/// Removes `type` and returns its value, which is one of [`TAGS`].
fn tag(members: &mut Map<String, Value>) -> Result<&'static str, Blocked> {
    let help = "write `\"type\": \"call_tool\"` or `\"type\": \"final_answer\"`";
    let Some(tag) = members.remove(TYPE) else {
        let near = members.keys().find(|key| INSTEAD.contains(&key.as_str()) || TAGS.contains(&key.as_str()));
        let message = match near {
            Some(near) => format!("missing field `type`; `{near}` is not accepted in its place"),
            None => match suggest::nearest(TYPE, members.keys().map(String::as_str)) {
                Some(near) => format!("missing field `type`; is `{}` a misspelling of it?", bounded(near)),
                None => "missing field `type` in the plan".to_owned(),
            },
        };
        return Err(quoting("missing field `type` in the plan", message, help));
    };
    let Value::String(tag) = tag else { return Err(wrong(TYPE, "a string", &tag)) };
    TAGS.into_iter().find(|known| *known == tag).ok_or_else(|| {
        let help = match suggest::nearest(&tag, TAGS) {
            Some(near) => format!("did you mean `{near}`?"),
            None => help.to_owned(),
        };
        quoting("invalid value for `type`", format!("invalid value `{}` for `type`", bounded(&tag)), help)
    })
}

fn call(mut members: Map<String, Value>) -> Result<Plan, Blocked> {
    known(&members, CALL_TOOL, &["server", "tool", "args"])?;
    let server = name(&mut members, "server")?;
    let tool = name(&mut members, "tool")?;
    let args = match members.remove("args") {
        Some(args) => object_of(args)?,
        None => return Err(missing("args", "a tool without arguments gets `\"args\": {}`")),
    };
    // Existence of the names is checked later, against the catalogue.
    let server = ServerName::new(server).map_err(|error| unlisted("server", &error))?;
    Ok(Plan::CallTool(ToolCall::new(ToolId { server, tool: tool_name(tool)? }, args)))
}

/// Requires arguments to be an object.
pub(super) fn object_of(args: Value) -> Result<Map<String, Value>, Blocked> {
    match args {
        Value::Object(args) => Ok(args),
        other => Err(wrong("args", "an object", &other)),
    }
}

pub(super) fn tool_name(name: impl AsRef<str>) -> Result<ToolName, Blocked> {
    ToolName::new(name).map_err(|error| unlisted("tool", &error))
}

fn answer(mut members: Map<String, Value>) -> Result<Plan, Blocked> {
    known(&members, FINAL_ANSWER, &["answer", "needs_more_info"])?;
    let answer = match members.remove("answer") {
        Some(Value::String(answer)) => answer,
        Some(other) => return Err(wrong("answer", "a string", &other)),
        None => return Err(missing("answer", "write the question to the user in `answer`")),
    };
    match members.remove("needs_more_info") {
        Some(Value::Bool(true)) => {}
        Some(Value::Bool(false)) => return Err(not_terminal("`needs_more_info` of a `final_answer` is false")),
        Some(other) => return Err(wrong("needs_more_info", "a boolean", &other)),
        None => return Err(not_terminal("missing field `needs_more_info` of a `final_answer`")),
    }
    if answer.chars().any(char::is_alphanumeric) {
        Ok(Plan::FinalAnswer(FinalAnswer { answer }))
    } else {
        // A letter or a digit is required, because not all blank characters count as white space.
        Err(not_terminal("the `answer` of a `final_answer` is blank: it has no letter and no digit"))
    }
}

fn known(members: &Map<String, Value>, form: &str, names: &[&str]) -> Result<(), Blocked> {
    let Some(unknown) = members.keys().find(|key| !names.contains(&key.as_str())) else { return Ok(()) };
    let help = match suggest::nearest(unknown, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the fields of a `{form}` are `type`, `{}`", names.join("`, `")),
    };
    let message = format!("unknown field `{}` of a `{form}`", bounded(unknown));
    Err(quoting(format!("unknown field of a `{form}`"), message, help))
}

fn name(members: &mut Map<String, Value>, key: &str) -> Result<String, Blocked> {
    match members.remove(key) {
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(wrong(key, "a string", &other)),
        None => Err(missing(key, &format!("use the name of the {key} exactly as listed"))),
    }
}

/// Builds the refusal of an invalid name, which no catalogue can contain (PG-2).
fn unlisted(key: &str, error: &BadName) -> Blocked {
    Blocked::new(GateCode::Pg2, bounded(&error.to_string()), format!("use the name of the {key} exactly as listed"))
        .unquoted_as(format!("the name of the {key} is invalid"))
}

fn missing(key: &str, help: &str) -> Blocked {
    naming(format!("missing field `{key}` in the plan"), help)
}

fn wrong(key: &str, wanted: &str, got: &Value) -> Blocked {
    naming(
        format!("expected {wanted} for `{key}`, found {}", kind(got)),
        format!("write {wanted} instead of `{}`", bounded(&got.to_string())),
    )
}

fn not_terminal(message: &'static str) -> Blocked {
    Blocked::new(
        GateCode::PgT,
        message,
        "call a tool, or ask the user for what is missing: `\"needs_more_info\": true`, and the question in `answer`",
    )
}

const TYPE: &str = "type";
const CALL_TOOL: &str = "call_tool";
const FINAL_ANSWER: &str = "final_answer";
const TAGS: [&str; 2] = [CALL_TOOL, FINAL_ANSWER];
/// Members that planners write instead of `type`.
const INSTEAD: [&str; 5] = ["action", "kind", "op", "plan", "name"];
