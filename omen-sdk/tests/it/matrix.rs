//! Types ≡ table ≡ machine: for every state of the typed API and every event, a program is generated and compiled. It
//! compiles if the table allows the event; otherwise it has exactly one error, which names the state and the rule that the
//! runtime machine reports for such a packet in that state.

mod machine;

use std::collections::{BTreeMap, BTreeSet};

use omen_codegen::model::{Model, Refusal, Typestate};

use machine::Reports;

use omen_testkit::programs::{self, Cell, Program};

/// A state with its parameters filled in.
struct State<'m> {
    of: &'m Typestate,
    /// Type of the state, such as `Verify<Planned, Unseen, ToolsOk>`.
    ty: String,
}

/// A call that causes an event.
struct Call {
    method: &'static str,
    /// Types of its arguments.
    takes: &'static [&'static str],
    generics: &'static str,
}

const fn call(method: &'static str, takes: &'static [&'static str]) -> Call {
    Call { method, takes, generics: "" }
}

const ENVELOPE: &str = "&Envelope<LowStakes, Par, ToolsOk>";

/// Returns the calls that cause an event; each state has at most one of them.
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
        "direct_write" => vec![call("execute", &["[Order<ReadWrite>; 1]"])],
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

/// Returns every state, with every combination of parameters that makes a difference.
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

/// First lines of every program.
const HEAD: &str = "use omen::*;\ntool!(Write = \"t\", Write);\nscope!(Writing: tools [Write], operations [Write]);";

impl Call {
    fn add_to(&self, program: &mut Program, State { ty, .. }: &State<'_>, event: &str) {
        let values: Vec<String> = (0..self.takes.len()).map(|i| format!("v{i}")).collect();
        let parameters: String = values.iter().zip(self.takes).map(|(value, ty)| format!(", {value}: {ty}")).collect();
        let cell = Cell { name: format!("`{event}` in `{ty}`"), state: ty.clone() };
        let Self { method, generics, .. } = self;
        let body = format!("let _ = episode.{method}{generics}({});", values.join(", "));
        program.add(cell, "fn", &format!("(episode: Episode<{ty}>{parameters})"), &body);
    }
}

/// Returns whether a cell is legal by the table, the open directives and the obligations of the verification loop.
fn is_legal(model: &Model, state: &State<'_>, event: &str) -> bool {
    let has_row = !model.fsm.targets(state.of, &[event.to_owned()]).is_empty();
    let (in_loop, has) = (state.of.of == ["S4_VERIFY"], |word: &str| state.ty.contains(word));
    let guard = match event {
        // Neither an open directive (D20) nor an incomplete loop (D22) may be left.
        "believe" if state.of.open => false,
        "believe" if in_loop => {
            has("Seen") && !has("Unseen") && (has("Proven") || has("Complete") || has("Attempted") && has("ToolsDown"))
        }
        // The plan comes first (D22). The typed API settles the directives of a loop before it sends more.
        "direct_read" if in_loop => !has("Unplanned") && !state.of.open,
        // A result needs an open directive (E6).
        "settle" => state.of.open,
        _ => true,
    };
    has_row && guard
}

#[test]
fn what_the_table_allows_compiles_and_nothing_else() {
    let model = omen_codegen::model(omen_schema::FILES.iter().copied()).unwrap();
    let states = states(&model);
    let mut programs = [Program::new(HEAD), Program::new(HEAD)];
    let mut cells = [0, 0];
    for state in &states {
        for event in &model.fsm.events {
            let legal = is_legal(&model, state, &event.id);
            cells[usize::from(legal)] += 1;
            for call in calls(&event.id) {
                call.add_to(&mut programs[usize::from(legal)], state, &event.id);
            }
        }
    }
    let [illegal, legal] = programs;
    let errors = programs::check("omen-sdk", &[("illegal", &illegal), ("legal", &legal)]);

    let mut failures = errors
        .amiss("illegal", &illegal.cells, |code| omen_types::Code::ALL.iter().any(|known| known.as_str() == code));
    // A legal cell has a call that compiles; its other calls belong to other states.
    let mut compiles: BTreeMap<&str, bool> = BTreeMap::new();
    for (line, cell) in &legal.cells {
        *compiles.entry(&cell.name).or_default() |= errors.on_line("legal", *line).is_empty();
    }
    failures.extend(
        compiles.iter().filter(|(_, compiles)| !**compiles).map(|(name, _)| format!("{name} does not compile")),
    );
    let mut codes = Codes { model: &model, reports: machine::reports(&model), same: 0, depends: BTreeMap::new() };
    for (line, cell) in &illegal.cells {
        if let [error] = errors.on_line("illegal", *line)
            && let Err(differs) = codes.compare(&cell.name, error, &states)
        {
            failures.push(format!("{}: {differs}", cell.name));
        }
    }
    println!(
        "{} illegal calls get the machine's code; in these cells it depends, or only the types refuse:",
        codes.same
    );
    codes.depends.iter().for_each(|(cell, why)| println!("  {cell}: {why}"));
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

/// Compares the codes of rustc and of the machine.
struct Codes<'m> {
    model: &'m Model,
    reports: Reports,
    same: usize,
    /// Cells whose code depends on the log, with the reason that the schema gives.
    depends: BTreeMap<String, String>,
}

impl Codes<'_> {
    /// Compares the code at the beginning of a compile error with those of the machine for the same event in the same state.
    /// Where they can differ, the schema states the reason.
    fn compare(&mut self, cell: &str, error: &str, states: &[State<'_>]) -> Result<(), String> {
        let (event, ty) = cell.trim_matches('`').split_once("` in `").ok_or("a cell has an event and a state")?;
        let state = states.iter().find(|state| state.ty == ty).ok_or("no such state")?.of;
        let code = code_of(error);
        let found = self.machine(state, event);
        let first: BTreeSet<&str> = found.iter().filter_map(|codes| codes.first().map(String::as_str)).collect();
        if first == BTreeSet::from([code]) {
            self.same += 1;
            return Ok(());
        }
        let why = if first.contains(code) {
            let facts = self.model.fsm.depends_on(state, event);
            let facts: Vec<_> = facts.iter().map(|fact| fact.description.as_str()).collect();
            let always = found.iter().all(|codes| codes.is_empty() || codes.iter().any(|known| known == code));
            let and = if always { ", and is in `also` otherwise" } else { "" };
            format!("{code} for the types, {first:?} for the machine{and}, depending on: {}", facts.join("; "))
        } else {
            let only = self.only_types(state, event, code);
            let why = only.ok_or_else(|| format!("rustc says {code}, the machine {found:?}"))?;
            format!("{code} for the types alone: {why}")
        };
        self.depends.insert(format!("`{event}` in `{}`", state.ty), why);
        Ok(())
    }

    /// Returns the codes of the machine for an event in the states that a type represents.
    fn machine(&self, state: &Typestate, event: &str) -> BTreeSet<Vec<String>> {
        let counted = self.model.fsm.typed.states.iter().any(|other| other.of == state.of && other.open != state.open);
        self.reports.of(&state.of, counted.then_some(state.open), event)
    }

    /// Returns the reason in the schema why only the types refuse a cell with a code.
    fn only_types(&self, state: &Typestate, event: &str, code: &str) -> Option<&str> {
        let refuses = |refusal: &&Refusal| {
            let within = state.of.iter().any(|node| refusal.is_in(node));
            refusal.typed && refusal.code == code && within && refusal.is_about(event, event != "close")
        };
        self.model.fsm.cells.refusals.iter().find(refuses).map(|refusal| refusal.description.as_str())
    }
}

/// Returns the code at the beginning of an error.
fn code_of(error: &str) -> &str {
    let message = error.split_once("]: ").map_or(error, |(_, message)| message);
    message.split([':', ' ']).next().unwrap_or_default()
}

/// For each cell, the list in the schema has exactly the codes of the machine, in the same order.
#[test]
fn the_machine_gives_each_cell_the_codes_of_the_schema() {
    let model = omen_codegen::model(omen_schema::FILES.iter().copied()).unwrap();
    let codes = Codes { reports: machine::reports(&model), model: &model, same: 0, depends: BTreeMap::new() };
    let (mut failures, mut cells) = (Vec::new(), 0);
    for state in &model.fsm.typed.states {
        for event in model.fsm.events.iter().filter(|event| event.packet.is_some()) {
            let (said, found) = (model.fsm.outcomes(state, &event.id, true, false), codes.machine(state, &event.id));
            cells += 1;
            if said != found {
                failures.push(format!("`{}` in `{}`: schema {said:?}, machine {found:?}", event.id, state.ty));
            }
        }
    }
    println!("{cells} cells");
    assert!(cells > 300 && failures.is_empty(), "{}", failures.join("\n"));
}
