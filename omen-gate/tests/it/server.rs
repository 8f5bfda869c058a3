//! Servers in this process.

use std::collections::BTreeMap;
use std::sync::Arc;

use omen_gate::server::{BadTool, Dispatch, Local, ToolServer, snapshot};
use omen_gate::tool::{Answer, Tool};
use omen_gate::{Fault, ServerName, ToolName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::support::unguarded;

#[derive(Deserialize, JsonSchema)]
struct Two {
    a: i64,
    #[serde(default)]
    b: i64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

async fn add(two: Two) -> Result<Sum, String> {
    two.a.checked_add(two.b).map(|sum| Sum { sum }).ok_or_else(|| "the sum is too large".to_owned())
}

fn name(text: &str) -> ToolName {
    ToolName::new(text).unwrap()
}

fn plain(name: &str) -> Tool {
    serde_json::from_value(json!({"name": name, "inputSchema": {"type": "object"}})).unwrap()
}

#[tokio::test]
async fn a_function_is_a_tool() {
    let server = Local::new().tool("add", "Adds two numbers.", add).unwrap();
    let tools = server.list().await.unwrap();
    assert_eq!(tools[0].input_schema["required"], json!(["a"]), "a default is not required");
    assert_eq!(tools[0].output_schema.as_ref().unwrap()["required"], json!(["sum"]));

    let answer = server.call(unguarded("add", json!({"a": 1, "b": 2}))).await.unwrap();
    assert_eq!(answer.structured_content, Some(json!({"sum": 3})));
    assert_eq!(answer.content, [json!({"type": "text", "text": "{\"sum\":3}"})]);

    let failed = server.call(unguarded("add", json!({"a": i64::MAX, "b": 1}))).await.unwrap();
    assert_eq!((failed.is_error, failed.structured_content), (Some(true), None));

    let misfit = server.call(unguarded("add", json!({"a": "1"}))).await.unwrap_err();
    assert!(matches!(misfit, Fault::Refused { code: -32_602, .. }), "{misfit:?}");
    let unknown = server.call(unguarded("sub", json!({}))).await.unwrap_err();
    assert!(matches!(unknown, Fault::Refused { code: -32_602, .. }), "{unknown:?}");
}

#[tokio::test]
async fn what_is_no_object_is_no_tool() {
    async fn scalar(_: Two) -> Result<i64, String> {
        Ok(1)
    }
    async fn list(_: Vec<i64>) -> Result<Sum, String> {
        Ok(Sum { sum: 0 })
    }
    let refused = Local::new().tool("scalar", "", scalar).unwrap_err();
    assert_eq!(refused, BadTool::NoObject { name: name("scalar"), what: "results" });
    let refused = Local::new().tool("list", "", list).unwrap_err();
    assert_eq!(refused, BadTool::NoObject { name: name("list"), what: "arguments" });
    let refused = Local::new().tool("add", "", add).unwrap().tool("add", "", add).unwrap_err();
    assert_eq!(refused, BadTool::Twice(name("add")));
    assert!(matches!(Local::new().tool("a b", "", add).unwrap_err(), BadTool::Name(_)));
}

#[tokio::test]
async fn the_list_is_as_it_is_now() {
    let server = Local::new();
    assert_eq!(server.revision(), 0);
    server.add(plain("a"), |_| async { Err(Fault::Panicked) }).unwrap();
    assert_eq!((server.revision(), server.list().await.unwrap().len()), (1, 1));
    assert_eq!(server.call(unguarded("a", json!({}))).await, Err(Fault::Panicked), "a raw tool makes its own answer");
    assert!(server.remove(&name("a")) && !server.remove(&name("a")));
    assert_eq!((server.revision(), server.list().await.unwrap().len()), (2, 0));
}

#[tokio::test]
async fn a_catalogue_has_all_servers_or_is_none() {
    #[derive(Debug)]
    struct Broken;
    #[async_trait::async_trait]
    impl ToolServer for Broken {
        async fn list(&self) -> Result<Vec<Tool>, Fault> {
            Err(Fault::Unreachable { why: "gone".to_owned() })
        }
        async fn call(&self, _: Dispatch) -> Result<Answer, Fault> {
            Err(Fault::Unreachable { why: "gone".to_owned() })
        }
    }
    let local = Local::new().raw(plain("a"), |_| async { Ok(Answer::default()) }).unwrap();
    let mut servers: BTreeMap<ServerName, Arc<dyn ToolServer>> = BTreeMap::new();
    servers.insert("local".parse().unwrap(), Arc::new(local));
    let catalogue = serde_json::to_value(snapshot(&servers).await.unwrap()).unwrap();
    assert_eq!(catalogue, json!({"local": [{"name": "a", "inputSchema": {"type": "object"}}]}));

    servers.insert("broken".parse().unwrap(), Arc::new(Broken));
    let unlisted = snapshot(&servers).await.unwrap_err();
    assert_eq!(unlisted.to_string(), "`broken` does not list its tools: the server cannot be reached: gone");
}
