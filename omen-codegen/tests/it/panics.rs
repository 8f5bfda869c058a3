//! A panic of a dependency is a mistake like any other, and nothing of it is printed.
//!
//! The lint phase refuses what emitters and their libraries cannot express, as far as is known. These models are made by
//! hand, past the lint phase.

use std::process::Command;

use omen_codegen::emit::{self, Lens};
use omen_codegen::model::{Def, Kind, Model, Ty, Variant};

#[test]
fn a_panic_comes_back_as_a_mistake() {
    // quote panics: there is no such identifier. The text is its own, so that this case stays a panic.
    check("value without a name", |model| enumeration(model, &["-"]), "does not take these schemas");
    check("value without a name", |model| enumeration(model, &["-"]), "Ident");
}

#[test]
fn what_rust_cannot_express_is_a_mistake() {
    check("values of one name", |model| enumeration(model, &["SO-SO", "SO_SO"]), "two values of `Pace`");
    check("reference to nothing", dangling, "no definition `Nothing`");
}

#[test]
fn nothing_is_printed() {
    // What a test prints is captured in this process, so another one looks on.
    let this = std::env::current_exe().unwrap();
    let test = "panics::a_panic_comes_back_as_a_mistake";
    let output = Command::new(this).args(["--exact", test, "--nocapture", "--test-threads=1"]).output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(stdout.contains("1 passed"), "{stdout}{stderr}");
    assert_eq!(stderr, "");
    assert!(!stdout.contains("panicked"), "{stdout}");
}

#[test]
fn other_threads_may_go_on_to_complain() {
    let mut model = real();
    enumeration(&mut model, &["-"]);
    assert!(emit::types(&model, &Lens::default()).is_err());
    let before = std::panic::take_hook();
    let (heard, says) = std::sync::mpsc::channel();
    let heard = std::sync::Mutex::new(heard);
    std::panic::set_hook(Box::new(move |panic| drop(heard.lock().map(|heard| heard.send(panic.to_string())))));
    let _ = std::thread::spawn(|| panic!("heard")).join();
    std::panic::set_hook(before);
    assert!(says.recv().unwrap().contains("heard"));
}

#[track_caller]
fn check(name: &str, spoil: fn(&mut Model), says: &str) {
    let mut model = real();
    spoil(&mut model);
    match emit::types(&model, &Lens::default()) {
        Ok(_) => panic!("{name}: no mistake"),
        Err(mistakes) => {
            let text = mistakes.to_string();
            assert!(text.contains(says), "{name}: {text}");
        }
    }
}

fn real() -> Model {
    omen_codegen::model(omen_schema::FILES.iter().copied()).unwrap()
}

fn enumeration(model: &mut Model, values: &[&str]) {
    let variants = values
        .iter()
        .map(|wire| Variant { wire: (*wire).to_owned(), description: "a value".to_owned(), stale_after: None })
        .collect();
    let pace = Def {
        name: "Pace".to_owned(),
        file: "case.schema.json".to_owned(),
        description: "How fast to go.".to_owned(),
        kind: Kind::Enum(variants),
    };
    model.defs.insert(pace.name.clone(), pace);
}

fn dangling(model: &mut Model) {
    let Some(Kind::Object(object)) = model.defs.get_mut("QueueItem").map(|def| &mut def.kind) else {
        panic!("no object `QueueItem`");
    };
    object.fields[0].ty = Ty::Ref("Nothing".to_owned());
}
