//! States as classes: the stub, in which each has its legal moves and error texts for all others, and the classes.

use std::fmt::Write as _;

use super::texts::{CodedRules, GENERATED, OVERLAPS, class, illegal, in_python, refused, violated, wires};
use crate::mistake::{Mistakes, bug};
use crate::model::{Model, Move, Typestate};

/// Maximum number of directives, results and permits that a type counts. Larger numbers are counted at run time.
const COUNTED: usize = 8;

const READ: &str = "Literal[\"READ\"]";
const WRITE: &str = "Literal[\"WRITE\"]";
const ANY: &str = "SafetyClass";
/// Parameters of a packet: its payload, or the fields of the payload.
const PAYLOAD: &str = "payload: Payload | None = None, /, **members: Json";

/// Stub without its states.
const TEMPLATE: &str = include_str!("states.pyi");

/// Emits the stub.
pub(super) fn emit(model: &Model, rules: &CodedRules<'_>) -> Result<String, Mistakes> {
    let typed = &model.fsm.typed;
    let (mut states, mut known) = (String::new(), Vec::new());
    for state in &typed.states {
        let name = class(&state.ty);
        let generic = if is_loop(state) { ", Generic[P, Q]" } else { "" };
        let last = if is_counted(state) { "" } else { "@final\n" };
        let about = about(model, state);
        // Writing to a string cannot fail.
        let _ = write!(states, "{last}class {name}(Episode{generic}):\n    \"\"\"{about}\"\"\"\n");
        // The classes with a count declare how their directives are settled.
        let elsewhere = |mv: &Move| is_everywhere(mv) || is_counted(state) && mv.method == "settle";
        for mv in typed.moves.iter().filter(|mv| !elsewhere(mv)) {
            let text = match refused(model, state, mv)? {
                Some(refused) => format!("{}: {}", mv.method, illegal(&refused.code, &refused.message, &refused.fix)),
                None => legal(model, state, mv)?,
            };
            states.extend(text.lines().map(|line| format!("    {line}\n")));
        }
        states.push('\n');
        if is_counted(state) {
            for n in 1..=COUNTED {
                states.push_str(&counted(state, n));
                known.push(format!("{name}{n}"));
            }
        } else {
            known.push(name);
        }
    }
    let any = known.iter().map(|name| if name.contains("Verify") { format!("{name}[Any, Any]") } else { name.clone() });
    let any = any.collect::<Vec<_>>().join(" | ");
    let out = TEMPLATE.replace("{states}", states.trim_end()).replace("{any}", &any).replace("{claims}", &claims());
    let unsure = rules.unsure(model)?;
    let unsure = match unsure.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{}` or `{last}", others.join("`, `")),
        _ => unsure.concat(),
    };
    let out = out.replace("{NeedsNoEvidence}", &violated(model, "NeedsNoEvidence", &unsure)?);
    let out = ["HasPlan Unplanned", "Succeeded Planned", "Evidenced Unseen"].iter().try_fold(out, |out, name| {
        let (predicate, own) = name.split_once(' ').unwrap_or((name, ""));
        Ok::<_, Mistakes>(out.replace(&format!("{{{predicate}}}"), &violated(model, predicate, own)?))
    })?;
    Ok(format!("{GENERATED}{OVERLAPS}{out}"))
}

/// Emits the classes. Each has its legal moves and the name of its state.
pub(super) fn classes(model: &Model) -> Result<String, Mistakes> {
    let typed = &model.fsm.typed;
    let mut out = format!(
        "{GENERATED}\"\"\"States of an episode as classes.\"\"\"\n\nfrom __future__ import annotations\n\nfrom omen import \
         _moves, _values\nfrom omen._moves import Episode\n"
    );
    let mut names = Vec::new();
    for state in &typed.states {
        let name = class(&state.ty);
        let about = about(model, state);
        let _ = write!(
            out,
            "\n\nclass {name}(Episode):\n    \"\"\"{about}\"\"\"\n\n    __slots__ = ()\n    _state = \"{name}\"\n"
        );
        for mv in typed.moves.iter().filter(|mv| !is_everywhere(mv)) {
            if refused(model, state, mv)?.is_none() {
                let (method, to) = (&mv.method, next(model, state, mv).unwrap_or_default());
                let _ = writeln!(out, "    {method} = _moves.{method}(\"{to}\")");
            }
        }
        if is_counted(state) {
            let _ = writeln!(out, "    many = _moves.many(\"{}\")", name.replace("Open", "Many"));
            for n in 1..=COUNTED {
                let _ = write!(
                    out,
                    "\n\nclass {name}{n}({name}):\n    \"\"\"{name} with {n} open directives.\"\"\"\n\n    __slots__ = ()\n    _open = {n}\n"
                );
                names.push(format!("{name}{n}"));
            }
        }
        names.push(name);
    }
    let all: Vec<_> = names.iter().map(|name| format!("    {name},\n")).collect();
    let references: Vec<_> = wires(model, "RefType")?.iter().map(|name| format!("\"{name}\"")).collect();
    let _ = write!(out, "\n\n_values.know_references({})\n", references.join(", "));
    let _ = write!(out, "_moves.know(\n{})\n\nAnyEpisode = (\n    {}\n)\n", all.concat(), names.join("\n    | "));
    Ok(out)
}

fn about(model: &Model, state: &Typestate) -> String {
    let about = in_python(&model.fsm.typed, &state.description);
    // The type parameters differ from those in Rust.
    match about.split_once(" `P` is ") {
        Some((about, _)) => format!("{about} `P` is its progress, `Q` whether something was observed in it."),
        None => about,
    }
}

/// Returns whether a state's class has type parameters: the progress of the loop, and whether anything was observed.
fn is_loop(state: &Typestate) -> bool {
    state.ty.contains("Verify")
}

/// Returns whether there is a class for each number of open directives.
fn is_counted(state: &Typestate) -> bool {
    state.ty.starts_with("Open<")
}

/// Returns whether a move is a method of the base class.
fn is_everywhere(mv: &Move) -> bool {
    ["alert", "halt"].contains(&mv.method.as_str())
}

/// Returns the class of the state that a move leads to.
fn next(model: &Model, state: &Typestate, mv: &Move) -> Option<String> {
    let typed = &model.fsm.typed;
    match mv.method.as_str() {
        "review" => return Some("Review".to_owned()),
        "remodel" => return Some("Model".to_owned()),
        "close" => return Some("Closed".to_owned()),
        // A packet that does not leave the state keeps the class.
        "observe" | "verify" if state.open || is_loop(state) => return Some(class(&state.ty)),
        _ => {}
    }
    let mut targets = model.fsm.targets(state, &mv.events);
    targets.sort_unstable();
    let stands = |candidate: &&Typestate| {
        let mut of: Vec<&str> = candidate.of.iter().map(String::as_str).collect();
        of.sort_unstable();
        of == targets && !candidate.open
    };
    typed.states.iter().find(stands).map(|state| class(&state.ty))
}

/// Returns the overload of an observation that is not one.
fn unsure() -> String {
    format!("@overload\ndef observe(self, status: EpistemicStatus, {PAYLOAD}) -> {{NeedsNoEvidence}}: ...")
}

/// Returns the signature of a legal move.
fn legal(model: &Model, state: &Typestate, mv: &Move) -> Result<String, Mistakes> {
    let method = mv.method.as_str();
    let to = || next(model, state, mv).ok_or_else(|| bug(format!("`{method}` leads from `{}` nowhere", state.ty)));
    let name = class(&state.ty);
    Ok(match method {
        "observe" if name == "Verify" || name == "ManyVerify" => [
            format!("@overload\ndef observe(self, status: Literal[\"OBSERVED\"], {PAYLOAD}) -> {name}[P, Seen]: ..."),
            format!("@overload\ndef observe(self, status: SureStatus, {PAYLOAD}) -> {name}[P, Q]: ..."),
            unsure(),
        ]
        .join("\n"),
        "observe" => {
            let to = if state.open { "Self".to_owned() } else { to()? };
            format!("@overload\ndef observe(self, status: SureStatus, {PAYLOAD}) -> {to}: ...\n{}", unsure())
        }
        "believe" if is_loop(state) => "believe: ClassVar[_Believe]".to_owned(),
        "complete" => format!("def complete(self, {PAYLOAD}) -> tuple[Model, Proof]: ..."),
        "answered" => {
            let to = to()?;
            format!("@overload\ndef answered(self, {PAYLOAD}) -> {to}: ...\n@overload\ndef answered(self, order: Layer1Order, /) -> {to}: ...")
        }
        "believe" | "review" | "remodel" | "escalate" => {
            format!("def {method}(self, {PAYLOAD}) -> {}: ...", to()?)
        }
        "act" => format!("def act(self, order: OrderUnder) -> {}: ...", to()?),
        "defer" => format!("def defer(self, ruling: RulingUnder[Deferrable]) -> {}: ...", to()?),
        "verify_first" => "def verify_first(self, ruling: RulingUnder[Any]) -> Verify[Unplanned, Unseen]: ...".to_owned(),
        "to_escalate" | "cancel" => format!("def {method}(self, ruling: RulingUnder[Any]) -> {}: ...", to()?),
        "decide" => "def decide(self, outcome: Outcome, order: ActOrder[Any], envelope: AskingEnvelope) -> DecideAct | \
                     Verify[Unplanned, Unseen] | DecideEscalate | DecideStop: ..."
            .to_owned(),
        "verify" if name == "Verify" => "@overload\ndef verify(self: Verify[Unplanned, Q], plan: Plan) -> \
                                         Verify[Planned, Q]: ...\n@overload\ndef verify(self, plan: Plan) -> Verify[P, Q]: ..."
            .to_owned(),
        "verify" => "def verify(self, plan: Plan) -> Self: ...".to_owned(),
        "check" | "check_with" | "check_with_async" => format!("{method}: ClassVar[_{}]", super::super::names::pascal(method)),
        "authorize" => authorize(model)?,
        "authorize_named" => "def authorize_named(self, tools: Sequence[str], operations: Sequence[OperationType], *, \
                              uses: int, ttl_seconds: int, rationale: str, constraints: Mapping[str, Json] | None = None) \
                              -> tuple[Authorize, list[Permit[Any, Any]]]: ..."
            .to_owned(),
        "execute" => execute(model, &name)?,
        "execute_with" | "execute_with_async" | "execute_each" | "execute_each_async" => carried_out(method, &name),
        "settle" => "def settle(self, results: Sequence[Settled[Any]], /) -> Self: ...".to_owned(),
        "all_settled" if is_loop(state) => "def all_settled(self) -> Verify[Any, Q]: ...".to_owned(),
        "all_settled" => "def all_settled(self) -> Execute: ...".to_owned(),
        "clear" => format!("def clear(self, order: Layer1Order) -> {}: ...", to()?),
        "close" => "def close(self) -> Closed: ...".to_owned(),
        _ => return Err(bug(format!("`{method}` is legal in `{}`, and has no signature", state.ty))),
    })
}

/// Returns the class of a state with `n` open directives.
fn counted(state: &Typestate, n: usize) -> String {
    let (name, many) = (class(&state.ty), class(&state.ty).replace("Open", "Many"));
    let results = |of: &str| {
        let results: Vec<_> = (1..=n).map(|i| format!("result_{i}: Settled[{of}]")).collect();
        results.join(", ")
    };
    let directives = if n == 1 { "directive" } else { "directives" };
    let (base, settle, many) = if is_loop(state) {
        let settle = format!("def settle(self, {}, /) -> Verify[R, Q]: ...", results("R"));
        (format!("{name}[P, Q], Generic[P, Q]"), settle, format!("{many}[P, Q]"))
    } else {
        (name.clone(), format!("def settle(self, {}, /) -> Execute: ...", results("Any")), many)
    };
    format!(
        "@final\nclass {name}{n}({base}):\n    \"\"\"`{name}` with {n} open {directives}.\"\"\"\n    {settle}\n    \
         def many(self) -> {many}: ...\n\n"
    )
}

fn authorize(model: &Model) -> Result<String, Mistakes> {
    let head = "authorize(self, scope: type[Scope[ToolT, OpT]], *, ttl_seconds: int, rationale: str, constraints: Mapping[str, Json] | None = None";
    Ok(by_uses(head, &violated(model, "SomeUses", "")?, |permits| format!("tuple[Authorize, {permits}]")))
}

/// Returns the methods of every state that claim uses of tokens.
fn claims() -> String {
    ["claim(self, token_id: str, ", "claim_any(self, "]
        .map(|head| by_uses(&format!("{head}scope: type[Scope[ToolT, OpT]], *"), "tuple[()]", str::to_owned))
        .join("\n")
        .replace('\n', "\n    ")
}

/// Returns the overloads of a method for each number of uses; `none` is the result for 0 uses, `to` that for permits.
fn by_uses(head: &str, none: &str, to: impl Fn(&str) -> String) -> String {
    let overload = |uses: &str, result: &str| format!("@overload\ndef {head}, uses: {uses}) -> {result}: ...");
    let counted = (1..=COUNTED).map(|n| {
        let default = if n == 1 { " = 1" } else { "" };
        let permits = vec!["Permit[ToolT, OpT]"; n].join(", ");
        overload(&format!("Literal[{n}]{default}"), &to(&format!("tuple[{permits}]")))
    });
    let others = [overload("Literal[0]", none), overload("int", &to("list[Permit[ToolT, OpT]]"))];
    counted.chain(others).collect::<Vec<_>>().join("\n")
}

fn execute(model: &Model, name: &str) -> Result<String, Mistakes> {
    let takes = takes(name);
    let mut overloads = Vec::new();
    for n in 1..=COUNTED {
        let orders: Vec<_> = (1..=n).map(|i| format!("order_{i}: Order[{takes}]")).collect();
        let to = match name {
            "Verify" => format!("OpenVerify{n}[Attempted, Q]"),
            "OpenExecute" | "ManyExecute" => "ManyExecute".to_owned(),
            _ => format!("OpenExecute{n}"),
        };
        let tasks = vec!["Task"; n].join(", ");
        overloads.push(format!(
            "@overload\ndef execute(self, {}, /) -> tuple[{to}, tuple[{tasks}]]: ...",
            orders.join(", ")
        ));
    }
    let many = if name == "Verify" { "ManyVerify[Attempted, Q]" } else { "ManyExecute" };
    overloads
        .push(format!("@overload\ndef execute(self, *orders: Order[{takes}]) -> tuple[{many}, tuple[Task, ...]]: ..."));
    for (predicate, own, wrong) in wrong_orders(name) {
        let refused = violated(model, predicate, own)?;
        overloads.push(format!("@overload\ndef execute(self, *orders: {wrong}) -> {refused}: ..."));
    }
    Ok(overloads.join("\n"))
}

/// Returns the class of the orders that a state accepts.
fn takes(name: &str) -> &'static str {
    match name {
        "DecideAct" | "Verify" => READ,
        "Authorize" => WRITE,
        _ => ANY,
    }
}

/// Returns the predicates that orders of another class violate in a state, each with a value and the type of those orders.
fn wrong_orders(name: &str) -> Vec<(&'static str, &'static str, &'static str)> {
    let unauthorized = ("NeedsNoToken", "WRITE", "Order[Any] | Directive[Any, Any]");
    match name {
        "DecideAct" => vec![("ReadsAtOnce", "WRITE", "Order[Any] | Directive[Any, Any]")],
        "Verify" => vec![("VerifyOnlyReads", "WRITE", "Order[Any] | Directive[Any, Any]")],
        "Authorize" => vec![("WritesFirst", "READ", "Order[Literal[\"READ\"]]"), unauthorized],
        _ => vec![unauthorized],
    }
}

/// Returns the moves that send directives, call the tool for each and record its result.
fn carried_out(method: &str, name: &str) -> String {
    let (is_async, each) = (method.ends_with("_async"), method.starts_with("execute_each"));
    let (prefix, result) = if is_async { ("async ", "Awaitable[V]") } else { ("", "V") };
    let (order, values) = match each {
        true => (format!("orders: Sequence[Order[{}]]", takes(name)), "list[V]"),
        false => (format!("order: Order[{}]", takes(name)), "V"),
    };
    format!("{prefix}def {method}(self, {order}, tool: Callable[[Task], {result}]) -> tuple[Execute, {values}]: ...")
}
