//! The result of `tools/call`.

use serde_json::{Map, Value};

use crate::base::bounded;
use crate::call::{Answer, Fault};

/// Reads the result of `tools/call`.
///
/// # Errors
/// If it is not what the protocol promises. Whether the structured content is what the tool promises is judged later.
pub fn read(result: Map<String, Value>) -> Result<Answer, Fault> {
    // Newer versions of the protocol have results that are not final.
    if let Some(kind) = result.get("resultType").filter(|kind| *kind != "complete") {
        return malformed(&format!("unsupported result type `{kind}`"));
    }
    if !result.contains_key("content") && !result.contains_key("structuredContent") {
        return malformed("it has neither `content` nor `structuredContent`");
    }
    match serde_json::from_value::<Answer>(Value::Object(result)) {
        Ok(answer) if !answer.content.iter().all(|block| block.get("type").is_some_and(Value::is_string)) => {
            malformed("a block of its `content` has no `type`")
        }
        Ok(answer) => Ok(answer),
        Err(error) => malformed(&error.to_string()),
    }
}

fn malformed<T>(why: &str) -> Result<T, Fault> {
    Err(Fault::Malformed { why: bounded(why) })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests {
    use serde_json::{Value, json};

    use super::read;
    use crate::call::Fault;

    #[track_caller]
    fn refused(result: Value, why: &str) {
        match read(serde_json::from_value(result).unwrap()) {
            Err(Fault::Malformed { why: said }) => assert!(said.contains(why), "{said}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_no_answer_is_malformed() {
        refused(json!({}), "neither");
        refused(json!({"content": "text"}), "expected a sequence");
        refused(json!({"content": [{"text": "untyped"}]}), "no `type`");
        refused(json!({"content": ["text"]}), "no `type`");
        refused(json!({"content": [], "isError": "no"}), "expected a boolean");
        refused(json!({"resultType": "input_required", "content": []}), "input_required");
    }

    #[test]
    fn an_answer_keeps_every_member() {
        let result = json!({
            "content": [{"type": "text", "text": "1", "annotations": {"audience": ["user"]}}],
            "structuredContent": {"n": 1.5, "big": u64::MAX},
            "isError": false,
            "_meta": {"k": "v"},
            "resultType": "complete",
        });
        let answer = read(serde_json::from_value(result.clone()).unwrap()).unwrap();
        assert_eq!(serde_json::to_value(answer).unwrap(), result);
    }
}
