//! Rows alone decide where a method is legal.

use std::path::Path;

use omen_codegen::emit;
use omen_codegen::model::{Answer, Model};
use serde_json::{Value, json};

const FSM: &str = "episode.fsm.json";

/// Builds the model of the real files with an edited state machine.
fn model(edit: impl FnOnce(&mut Value)) -> Model {
    let mut fsm: Value = serde_json::from_str(omen_schema::file(FSM).unwrap()).unwrap();
    edit(&mut fsm);
    let fsm = fsm.to_string();
    let files = omen_schema::FILES.iter().map(|(path, text)| (*path, if *path == FSM { fsm.as_str() } else { *text }));
    omen_codegen::model(files).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

/// Returns the methods of the typed API in a state.
fn methods(model: &Model, state: &str) -> Vec<String> {
    let moves = Path::new(env!("CARGO_MANIFEST_DIR")).join("../omen-fsm/src/episode/moves");
    let source = emit::episode(model, &emit::functions(&moves).unwrap()).unwrap();
    let text = source.as_str();
    let own = text.split_once(&format!("impl Episode<{state}> {{\n")).map(|(_, block)| block);
    let is_shared = |block: &&str| {
        let can = block.split_once("> Episode<S> {").map(|(can, _)| can);
        can.is_some_and(|can| text.contains(&format!("impl {can} for {state} {{")))
    };
    let blocks = own.into_iter().chain(text.split("\nimpl<S: ").skip(1).filter(is_shared));
    let lines = blocks.filter_map(|block| block.split_once("\n}\n")).flat_map(|(block, _)| block.lines());
    let name = |line: &str| line.trim().strip_prefix("pub fn ")?.split(['(', '<']).next().map(str::to_owned);
    lines.filter_map(name).collect()
}

fn legal(model: &Model, state: &str, method: &str) -> bool {
    let state = model.fsm.typed.states.iter().find(|known| known.ty == state).unwrap();
    let mv = model.fsm.typed.moves.iter().find(|known| known.method == method).unwrap();
    matches!(model.fsm.answer(state, mv), Answer::Legal)
}

#[test]
fn a_new_row_gives_its_state_the_method() {
    let before = model(|_| {});
    assert!(!legal(&before, "Model", "observe"));
    assert!(!methods(&before, "Model").contains(&"observe".to_owned()));

    let after = model(|fsm| {
        fsm["rows"].as_array_mut().unwrap().push(json!({
            "from": ["S2_MODEL"],
            "events": ["observe", "observe_user"],
            "to": ["S1_SENSE"],
            "description": "Somebody looks again.",
            "source": "a test",
        }));
        // The lint requires this: these texts no longer explain a call in `Model`.
        for text in fsm["typed"]["refused"].as_array_mut().unwrap() {
            if let Some(states) = text.get_mut("in").and_then(Value::as_array_mut) {
                states.retain(|state| state != "Model");
            }
        }
    });
    assert!(legal(&after, "Model", "observe"));
    assert!(methods(&after, "Model").contains(&"observe".to_owned()));
    assert!(legal(&after, "Model", "act"));
}

#[test]
fn a_row_that_goes_takes_the_method_with_it() {
    let after = model(|fsm| {
        let rows = fsm["rows"].as_array_mut().unwrap();
        let before = rows.len();
        // An escalation may be presented only once.
        rows.retain(|row| !(row["from"] == json!(["S8_ESCALATED"]) && row["events"] == json!(["escalate"])));
        assert_eq!(rows.len() + 1, before);
        let texts = fsm["typed"]["refused"].as_array_mut().unwrap();
        let text = json!({
            "rules": ["FSM"], "methods": ["escalate"], "in": ["Escalated"], "message": "x", "note": "y",
        });
        texts.insert(0, text);
    });
    assert!(!legal(&after, "Escalated", "escalate"));
    assert!(legal(&after, "Decide<Escalate>", "escalate"));
}

/// The machine's list, not the texts, guards a typestate that counts open directives.
#[test]
fn a_refusal_that_goes_leaves_texts_that_explain_nothing() {
    let left_behind = |fsm: &mut Value| {
        let refusals = fsm["cells"]["refusals"].as_array_mut().unwrap();
        refusals.retain(|refusal| !(refusal["code"] == "E6" && refusal["if"] == "open"));
    };
    let before = model(|_| {});
    assert!(!legal(&before, "Open<Execute, N>", "believe"));
    let mut fsm: Value = serde_json::from_str(omen_schema::file(FSM).unwrap()).unwrap();
    left_behind(&mut fsm);
    let text = fsm.to_string();
    let files = omen_schema::FILES.iter().map(|(path, old)| (*path, if *path == FSM { text.as_str() } else { *old }));
    // The texts that explained those calls are then unused.
    let found = omen_codegen::model(files).unwrap_err();
    assert!(found.iter().all(|mistake| mistake.kind == "refusal-idle"), "{found}");
}
