//! Tool server of the examples.

#[path = "../../../examples/config_store/server.rs"]
mod server;

use omen_gate::server::ToolServer as _;
use serde_json::json;

use super::{again, call, limits, start, within};

#[test]
fn settings_are_read_and_written() {
    if let Some((file, out)) = again::role() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let served = server::serve(file.into(), (tokio::io::stdin(), tokio::fs::File::from_std(out)));
        runtime.block_on(served).unwrap();
        std::process::exit(0);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(reads_and_writes());
}

async fn reads_and_writes() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("settings.json");
    let store = again::again("mcp::config_store::settings_are_read_and_written", file.to_str().unwrap());
    let store = start(store.limits(limits())).await;

    let tools = within(store.list()).await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["config.get", "config.set"]);
    for tool in &tools {
        assert_eq!(tool.input_schema["additionalProperties"], json!(false), "{tool:?}");
        assert_eq!(tool.output_schema.as_ref().unwrap()["type"], json!("object"), "{tool:?}");
    }

    let get = async || call(&store, "config.get", json!({"key": "color"})).await.unwrap().structured_content.unwrap();
    assert_eq!(get().await, json!({"key": "color", "value": null}));
    let set = call(&store, "config.set", json!({"key": "color", "value": "blue"})).await.unwrap();
    assert_eq!(set.structured_content, Some(json!({"key": "color", "before": null, "after": "blue"})));
    assert_eq!(get().await, json!({"key": "color", "value": "blue"}));
    let written: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(written, json!({"color": "blue"}));

    // A broken file is an error of the tool, and stays unchanged.
    std::fs::write(&file, "{").unwrap();
    let broken = call(&store, "config.set", json!({"key": "color", "value": "red"})).await.unwrap();
    assert_eq!(broken.is_error, Some(true));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "{");

    within(store.stop()).await;
    assert_eq!(store.exit().unwrap(), "exit status: 0");
}
