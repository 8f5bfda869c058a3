//! Types ≡ table: for every state of the typed API and every event a program is made and compiled. What
//! the table allows compiles; everything else gives exactly one error, which names the state and a rule.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use omen_codegen::model::{Model, Typestate};
use serde_json::Value;

/// A state with its parameters filled in.
struct State<'m> {
    of: &'m Typestate,
    /// Such as `Verify<Planned, Unseen, ToolsOk>`.
    ty: String,
}

/// A call that makes an event happen.
struct Call {
    method: &'static str,
    /// The values it takes, by type.
    takes: &'static [&'static str],
    generics: &'static str,
}

const fn call(method: &'static str, takes: &'static [&'static str]) -> Call {
    Call { method, takes, generics: "" }
}

const ENVELOPE: &str = "&Envelope<LowStakes, Par, ToolsOk>";

/// The calls that make an event happen; each state has at most one of them.
fn calls(event: &str) -> Vec<Call> {
    match event {
        "observe" => vec![call("observe", &["Observation<Observed>"])],
        "observe_user" => vec![call("observe", &["Observation<Observed>"]), call("answered", &["Answer"])],
        "believe" => {
            vec![call("believe", &["Belief"]), call("review", &["Belief"]), call("remodel", &["Belief"])]
        }
        "decide_verify_first" => vec![call("verify_first", &["Ruling", ENVELOPE])],
        "decide_act" => vec![call("act", &["ActOrder<AllVerified>", ENVELOPE])],
        "decide_escalate" => vec![call("to_escalate", &["Ruling", ENVELOPE])],
        "decide_stop" => vec![call("defer", &["Ruling", ENVELOPE]), call("cancel", &["Ruling", ENVELOPE])],
        "plan" => vec![call("verify", &["Plan"])],
        "authorize" => vec![Call { method: "authorize", takes: &["TokenSpec"], generics: "::<Writing, 1>" }],
        "direct_read" => vec![
            call("execute", &["[Order<ReadOnly>; 1]"]),
            call("check", &["Order<ReadOnly>", "fn(Pending) -> Settled"]),
        ],
        "direct_write" => vec![call("execute", &["[Order<Authorized>; 1]"])],
        "settle" => vec![call("settle", &["[Settled; 1]"]), call("settle", &["Vec<Settled>"])],
        "escalate" => vec![call("escalate", &["Escalation<2, 1>"])],
        "alert" => vec![call("alert", &["Alert"])],
        "halt" => vec![call("halt", &["Text"])],
        "release" => vec![call("clear", &["Layer1Order"])],
        "enqueue" => vec![call("enqueue", &["()"])],
        "close" => vec![call("close", &[])],
        other => panic!("no call makes the event `{other}` happen: add one"),
    }
}

/// Every state, with every combination of parameters that tells something.
fn states(model: &Model) -> Vec<State<'_>> {
    let mut states = Vec::new();
    for of in &model.fsm.typed.states {
        if !of.ty.contains("<P, O, T>") {
            states.push(State { of, ty: of.ty.replace("N>", "1>") });
            continue;
        }
        let progress: &[&str] = if of.open {
            &["Attempted", "Proven", "Complete"]
        } else {
            &["Unplanned", "Planned", "Attempted", "Proven", "Complete"]
        };
        for progress in progress {
            for seen in ["Unseen", "Seen"] {
                for tools in ["ToolsOk", "ToolsDown"] {
                    let ty = of.ty.replace("P, O, T", &format!("{progress}, {seen}, {tools}")).replace("N>", "1>");
                    states.push(State { of, ty });
                }
            }
        }
    }
    states
}

/// What the table, the open directives and the verification loop's obligations say.
fn is_legal(model: &Model, state: &State<'_>, event: &str) -> bool {
    let has_row = !model.fsm.targets(state.of, &[event.to_owned()]).is_empty();
    let (in_loop, has) = (state.of.of == ["S4_VERIFY"], |word: &str| state.ty.contains(word));
    let guard = match event {
        // D20: open directives are not left behind. D22: nor is a loop that lacks something.
        "believe" if state.of.open => false,
        "believe" if in_loop => {
            has("Seen") && !has("Unseen") && (has("Proven") || has("Complete") || has("Attempted") && has("ToolsDown"))
        }
        // D22: the plan comes first. The typed API settles what a loop has sent before it sends more.
        "direct_read" if in_loop => !has("Unplanned") && !state.of.open,
        // E6: a result needs an open directive.
        "settle" => state.of.open,
        _ => true,
    };
    has_row && guard
}

#[test]
fn what_the_table_allows_compiles_and_nothing_else() {
    let model = omen_codegen::model(omen_schema::FILES.iter().copied()).unwrap();
    let states = states(&model);
    let mut programs = [Program::new(), Program::new()];
    let mut cells = [0, 0];
    for state in &states {
        for event in &model.fsm.events {
            let legal = is_legal(&model, state, &event.id);
            cells[usize::from(legal)] += 1;
            for (number, call) in calls(&event.id).iter().enumerate() {
                programs[usize::from(legal)].add(state, &event.id, number, call);
            }
        }
    }
    let [illegal, legal] = programs;
    let folder = package(&[("illegal", &illegal.text), ("legal", &legal.text)]);
    let errors = check(&folder);

    let mut failures = Vec::new();
    // A legal cell has a call that compiles; its other calls belong to other states.
    let mut compiles: BTreeMap<&str, bool> = BTreeMap::new();
    for (line, cell) in &legal.cells {
        *compiles.entry(&cell.name).or_default() |= !errors.contains_key(&("legal".to_owned(), *line));
    }
    failures.extend(
        compiles.iter().filter(|(_, compiles)| !**compiles).map(|(name, _)| format!("{name} does not compile")),
    );
    for (line, cell) in &illegal.cells {
        match errors.get(&("illegal".to_owned(), *line)).map(Vec::as_slice) {
            Some([error]) => {
                failures.extend(amiss(error, &cell.state).map(|what| format!("{}: {what}\n{error}", cell.name)))
            }
            Some(several) => {
                failures.push(format!("{} gives {} errors:\n{}", cell.name, several.len(), several.join("\n")))
            }
            None => failures.push(format!("{} compiles, and is illegal", cell.name)),
        }
    }
    println!(
        "matrix: {} states x {} events = {} cells: {} legal ones compile, {} illegal ones give one error each",
        states.len(),
        model.fsm.events.len(),
        cells[0] + cells[1],
        cells[1],
        cells[0],
    );
    assert!(failures.is_empty(), "{} of the matrix's cells are amiss:\n{}", failures.len(), failures.join("\n"));
}

/// What an error lacks: a rule at its beginning, or the state.
fn amiss(error: &str, state: &str) -> Option<String> {
    let first = error.lines().next().unwrap_or_default();
    let message = first.split_once("]: ").map_or(first, |(_, message)| message);
    let code = message.split([':', ' ']).next().unwrap_or_default();
    let is_rule = omen_types::Code::ALL.iter().any(|known| known.as_str() == code);
    if !is_rule {
        return Some(format!("`{message}` does not begin with a rule"));
    }
    // rustc writes types by their path.
    let text = error.replace("omen::", "");
    let outer = state.split('<').next().unwrap_or(state);
    (!text.contains(outer)).then(|| format!("the error does not name the state `{state}`"))
}

struct Cell {
    name: String,
    state: String,
}

/// One function a call, one line each.
struct Program {
    text: String,
    cells: BTreeMap<usize, Cell>,
}

impl Program {
    fn new() -> Self {
        let head = "use omen::prelude::*;\ntool!(Write = \"t\", Write);\nscope!(Writing: tools [Write], operations [Write]);\nfn main() {}\n";
        Self { text: format!("#![allow(unused)]\n{head}"), cells: BTreeMap::new() }
    }

    fn add(&mut self, state: &State<'_>, event: &str, number: usize, call: &Call) {
        let line = self.text.lines().count() + 1;
        let parameters: String = call.takes.iter().enumerate().fold(String::new(), |mut all, (i, ty)| {
            write!(all, ", v{i}: {ty}").unwrap();
            all
        });
        let values = (0..call.takes.len()).map(|i| format!("v{i}")).collect::<Vec<_>>().join(", ");
        let (ty, method, generics) = (&state.ty, call.method, call.generics);
        writeln!(
            self.text,
            "fn cell{line}_{number}(episode: Episode<{ty}>{parameters}) {{ let _ = episode.{method}{generics}({values}); }}"
        )
        .unwrap();
        self.cells.insert(line, Cell { name: format!("`{event}` in `{ty}`"), state: ty.clone() });
    }
}

/// A package with some programs, in the build's own folder.
fn package(programs: &[(&str, &str)]) -> PathBuf {
    let folder = target().join("tests/matrix");
    fs::create_dir_all(folder.join("src/bin")).unwrap();
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let manifest = format!(
        "[package]\nname = \"matrix\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\nomen-sdk = {{ path = {:?} }}\n\n[workspace]\n",
        env!("CARGO_MANIFEST_DIR"),
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::copy(workspace.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    for (name, text) in programs {
        fs::write(folder.join("src/bin").join(name).with_extension("rs"), text).unwrap();
    }
    folder
}

fn target() -> PathBuf {
    // The test runs from `<target>/<profile>/deps`.
    std::env::current_exe().unwrap().ancestors().nth(3).unwrap().to_owned()
}

/// The errors of the programs, by program and line.
fn check(folder: &Path) -> BTreeMap<(String, usize), Vec<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["check", "--offline", "--keep-going", "--bins", "--message-format=json"])
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap();
    let mut errors: BTreeMap<(String, usize), Vec<String>> = BTreeMap::new();
    let mut finished = false;
    for message in
        output.stdout.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Value>(line).ok())
    {
        finished |= message["reason"] == "build-finished";
        let inner = &message["message"];
        let Some(span) =
            inner["spans"].as_array().and_then(|spans| spans.iter().find(|span| span["is_primary"] == true))
        else {
            continue;
        };
        if inner["level"] == "error" && message["target"]["name"] != "omen" {
            let program = message["target"]["name"].as_str().unwrap().to_owned();
            let line = usize::try_from(span["line_start"].as_u64().unwrap()).unwrap();
            errors.entry((program, line)).or_default().push(inner["rendered"].as_str().unwrap().to_owned());
        }
    }
    assert!(finished, "cargo check did not finish: {}", String::from_utf8_lossy(&output.stderr));
    errors
}
