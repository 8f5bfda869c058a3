//! List of setters: valid names, and a setter for every member of every payload.

use omen_codegen::emit::{self, Setters};
use omen_codegen::mistake::Mistakes;
use serde_json::Value;

const SETTERS: &str = include_str!("../../../omen-fsm/setters.json");

/// Returns the list with one value changed.
fn with(pointer: &str, value: Option<Value>) -> Result<String, Mistakes> {
    let mut list: Value = serde_json::from_str(SETTERS).unwrap();
    let (above, key) = pointer.rsplit_once('/').unwrap();
    let object = list.pointer_mut(above).unwrap().as_object_mut().unwrap();
    match value {
        Some(value) => object.insert(key.to_owned(), value),
        None => Some(object.remove(key).unwrap()),
    };
    let model = omen_codegen::model(omen_schema::FILES.iter().copied())?;
    emit::setters(&model, &Setters::parse(&list.to_string())?).map(|source| source.to_string())
}

#[track_caller]
fn check(pointer: &str, value: Option<Value>, at: &str, says: &str) {
    let found = with(pointer, value).unwrap_err();
    let mistake = found.iter().next().unwrap();
    assert_eq!((mistake.kind, mistake.file.as_str(), mistake.pointer.as_str()), ("setters", "setters.json", at));
    assert!(mistake.to_string().contains(says), "{mistake}");
    assert_eq!(found.iter().count(), 1, "{found}");
}

#[test]
fn mistakes_are_refused_with_their_fix() {
    check("/tipes", Some("".into()), "", "unknown field `tipes`");
    let says = "nothing in `Observation<S>` sets `data` of `ObservationPayload`, which is required";
    check("/types/0/by_hand/data", None, "/types/0/by_hand", says);
    let says = "add `\"contradiction_details\": \"`method`\"` here";
    check("/types/2/by_hand/contradiction_details", None, "/types/2/by_hand", says);
    let says = "`ObservationPayload` has no field `dada`";
    check("/types/0/by_hand/dada", Some("`new`".into()), "/types/0/by_hand/dada", says);
    let says = "makes `Observation`, which is not an object";
    let found = with("/types/0/object", Some("Observation".into())).unwrap_err();
    assert!(found.to_string().contains(says), "{found}");
    let says = "no type of the typed API makes `QueueUpdatePayload`";
    check("/elsewhere/QueueUpdatePayload", None, "", says);
    let says = "made by a type, but is listed under `elsewhere`";
    check("/elsewhere/DecisionPayload", Some("none".into()), "", says);
    check("/elsewhere/Stakes", Some("none".into()), "/elsewhere/Stakes", "not an object that this list has to cover");
    let says = "`Directive<T, O>` and `Inquiry` set different members";
    check("/types/9/by_hand/retry_policy", Some("`retry`".into()), "/types/9/by_hand", says);
}

/// Every member of the schema can be set: either a hand-written method or a generated setter exists.
#[test]
fn every_member_of_every_payload_is_set_by_something() {
    let model = omen_codegen::model(omen_schema::FILES.iter().copied()).unwrap();
    let made = emit::setters(&model, &Setters::parse(SETTERS).unwrap()).unwrap();
    let list: Value = serde_json::from_str(SETTERS).unwrap();
    let (mut by_hand, mut generated) = (0, 0);
    for maker in list["types"].as_array().unwrap() {
        let object = model.object(maker["object"].as_str().unwrap()).unwrap();
        let heading = format!("crate::episode::{} {{", maker["type"].as_str().unwrap());
        let setters: Vec<&str> = made.as_str().split("\nimpl").filter(|text| text.contains(&heading)).collect();
        for field in &object.fields {
            let is_by_hand = maker["by_hand"].get(&field.name).is_some();
            let is_generated = setters.iter().any(|text| text.contains(&format!("pub fn {}(", field.name)));
            assert!(is_by_hand != is_generated, "`{}` of {maker}", field.name);
            by_hand += usize::from(is_by_hand);
            generated += usize::from(is_generated);
        }
    }
    assert!(by_hand > 50 && generated > 10, "{by_hand} by hand, {generated} generated");
}
