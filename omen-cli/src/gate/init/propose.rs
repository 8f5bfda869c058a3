//! Proposal of the permissions that a tool may need, for the operator to review.
//!
//! A server's claim is not trusted where it makes a tool look harmless: it can only add a permission. The exception is
//! `readOnlyHint`, without which every tool would be proposed as one that writes. The operator decides in any case (D47).

use omen_gate::Permission;
use omen_gate::tool::Tool;
use serde_json::Value;

/// A permission, and the reason for proposing it.
pub(super) struct ProposedPermission {
    pub(super) permission: Permission,
    why: String,
}

impl ProposedPermission {
    pub(super) fn to_text(&self) -> String {
        format!("{} ({})", self.permission, self.why)
    }
}

pub(super) fn permissions(tool: &Tool) -> Vec<ProposedPermission> {
    let claim = |name: &str| tool.more.get("annotations").and_then(|claims| claims.get(name)).and_then(Value::as_bool);
    let argument = |names: &[&str]| {
        let known = tool.input_schema.get("properties").and_then(Value::as_object);
        let found =
            known.into_iter().flat_map(|known| known.keys()).find(|name| names.contains(&name.to_lowercase().as_str()));
        found.map(|name| format!("it has an argument `{name}`"))
    };
    let writes = match (claim("readOnlyHint"), claim("destructiveHint")) {
        (Some(true), _) => None,
        (_, Some(true)) => Some("it claims to be destructive".to_owned()),
        _ => Some("it does not claim to be read-only".to_owned()),
    };
    let reaches = match claim("openWorldHint") {
        Some(true) => Some("it claims to reach an open world".to_owned()),
        _ => argument(&["url", "urls", "uri", "uris", "host", "hostname", "endpoint", "domain"]),
    };
    let reads = match writes {
        None => "it claims to be read-only".to_owned(),
        Some(_) => "every tool answers".to_owned(),
    };
    [
        (Permission::Read, Some(reads)),
        (Permission::Write, writes),
        (Permission::Execute, argument(&["command", "commands", "cmd", "script", "code", "shell", "program"])),
        (Permission::Network, reaches),
    ]
    .into_iter()
    .filter_map(|(permission, why)| Some(ProposedPermission { permission, why: why? }))
    .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn proposes(annotations: &Value, arguments: &[&str], expect: &str) {
        let properties: serde_json::Map<_, _> = arguments.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
        let tool = json!({"name": "t", "annotations": annotations,
            "inputSchema": {"type": "object", "properties": properties}});
        let proposed = permissions(&serde_json::from_value(tool).unwrap());
        let names: Vec<_> = proposed.iter().map(|proposed| proposed.permission.as_str()).collect();
        assert_eq!(names.join(" "), expect, "{annotations} {arguments:?}");
    }

    #[test]
    fn claims_and_arguments_suggest_permissions() {
        proposes(&json!({"readOnlyHint": true}), &["path"], "READ");
        proposes(&json!({}), &["path"], "READ WRITE");
        proposes(&json!({"readOnlyHint": false, "destructiveHint": false}), &[], "READ WRITE");
        proposes(&json!({"readOnlyHint": true, "openWorldHint": true}), &[], "READ NETWORK");
        proposes(&json!({"readOnlyHint": true, "openWorldHint": false}), &["URL"], "READ NETWORK");
        proposes(&json!({"readOnlyHint": true}), &["command"], "READ EXECUTE");
        proposes(&json!({"readOnlyHint": "true"}), &[], "READ WRITE");
        proposes(&json!("all"), &["cmd", "uri"], "READ WRITE EXECUTE NETWORK");
    }
}
