//! Second interpreter of the table and of E1–E7, as simple as possible: it reads the JSON file at run time, keeps states as
//! strings and the whole history of accepted packets, and computes everything from the beginning each time. It shares no code
//! with the machine.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

/// Members of a packet that the table and E1–E7 need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Packet {
    pub(crate) id: String,
    /// Event in `episode.fsm.json`.
    pub(crate) event: &'static str,
    /// `decision_outcome` of a decision.
    pub(crate) outcome: &'static str,
    /// Task of a directive or result.
    pub(crate) task: String,
    /// Directive of a result.
    pub(crate) directive: String,
    /// Token that is issued, used or revoked.
    pub(crate) token: Option<&'static str>,
    /// `max_usage_count` of a token.
    pub(crate) max_uses: usize,
    pub(crate) success: bool,
    pub(crate) observed: bool,
    pub(crate) tools_ok: bool,
    pub(crate) cites: Vec<String>,
    /// Whether the packet comes from layer 1 or Integrity.
    pub(crate) high_layer: bool,
    /// Tokens and tool calls that a result reports.
    pub(crate) spent: (u64, u64),
    /// Whether the packet approves an overrun of the budgets.
    pub(crate) approves: bool,
}

/// Budgets of every decision: tokens and tool calls. Time does not advance.
pub(crate) const BUDGETS: (u64, u64) = (100, 1);

pub(crate) struct Simple {
    table: Value,
    /// Cache of steps, so that the table is not searched a million times.
    steps: RefCell<Steps>,
}

type Steps = HashMap<(BTreeSet<String>, String), BTreeSet<String>>;

impl Simple {
    pub(crate) fn new() -> Self {
        let text = omen_schema::file("episode.fsm.json").unwrap();
        Self { table: serde_json::from_str(text).unwrap(), steps: RefCell::default() }
    }

    /// Returns all possible states after a history of accepted packets.
    pub(crate) fn states(&self, history: &[Packet]) -> BTreeSet<String> {
        let mut states = BTreeSet::from([self.initial()]);
        for packet in history {
            states = self.step(&states, packet.event);
        }
        states
    }

    fn initial(&self) -> String {
        let initial = |state: &&Value| state["initial"] == true;
        self.table["states"].as_array().unwrap().iter().find(initial).unwrap()["id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn step(&self, states: &BTreeSet<String>, event: &str) -> BTreeSet<String> {
        let key = (states.clone(), event.to_owned());
        self.steps.borrow_mut().entry(key).or_insert_with(|| self.look_up(states, event)).clone()
    }

    fn look_up(&self, states: &BTreeSet<String>, event: &str) -> BTreeSet<String> {
        let mut next = BTreeSet::new();
        for state in states {
            for row in self.table["rows"].as_array().unwrap() {
                let has = |key: &str, what: &str| row[key].as_array().unwrap().iter().any(|x| x == what);
                let from = has("from", "ANY") || has("from", state) || has("from", bare(state));
                if from && has("events", event) {
                    for to in row["to"].as_array().unwrap() {
                        let to = to.as_str().unwrap();
                        next.insert(if to == "SAME" { state.clone() } else { to.to_owned() });
                    }
                }
            }
        }
        next
    }

    /// Returns the codes that a packet breaks after a history, which led to `states`, the most specific first; none if it is
    /// legal.
    pub(crate) fn broken(
        &self,
        states: &BTreeSet<String>,
        history: &[Packet],
        packet: &Packet,
    ) -> (Option<&'static str>, BTreeSet<&'static str>) {
        let next = self.step(states, packet.event);
        let only = |state: &str| states.len() == 1 && states.contains(state);
        let directive = packet.event.starts_with("direct_");
        let mut broken = Vec::new();
        if only("S9_SAFEMODE") && (next.is_empty() || (packet.event == "release" && !packet.high_layer)) {
            broken.push("E7");
        }
        // Inside the loop, the loop comes first (D51).
        if only("S4_VERIFY") && next.is_empty() {
            broken.push("E3");
        }
        if packet.event.starts_with("decide_") && !history.iter().any(|p| p.event == "believe") {
            broken.push("E1");
        }
        let decision = released(history).iter().rev().find(|p| p.event.starts_with("decide_"));
        let verifies = only("S4_VERIFY") && packet.event == "direct_read";
        if directive && !verifies && decision.is_none_or(|p| p.outcome != "ACT") {
            broken.push("E2");
        }
        let plan = looped(history).iter().any(|p| p.event == "plan");
        let leaves_s4 = only("S4_VERIFY") && packet.event == "believe";
        if (verifies && !plan) || (leaves_s4 && !complete(history, packet)) {
            broken.push("E3");
        }
        if packet.event == "direct_write" && !live(history, packet.token) {
            broken.push("E4");
        }
        let open = open(history);
        let answers = open.iter().any(|p| p.id == packet.directive && p.task == packet.task);
        let leaves_s6 = only("S6_EXECUTE") && packet.event == "believe";
        if (packet.event == "settle" && !answers) || ((leaves_s4 || leaves_s6) && !open.is_empty()) {
            broken.push("E6");
        }
        if next.is_empty() {
            broken.push("FSM");
        }
        with_shared(&broken)
    }

    /// Returns the codes that the end of the stream breaks.
    pub(crate) fn at_end(&self, states: &BTreeSet<String>, history: &[Packet]) -> Vec<&'static str> {
        if states.contains("S9_SAFEMODE") {
            return Vec::new();
        }
        let mut broken = Vec::new();
        let last = released(history).iter().rev().find(|p| p.event.starts_with("decide_"));
        if last.is_some_and(|p| p.outcome == "VERIFY_FIRST") {
            broken.push("E3");
        }
        broken.extend(open(history).iter().map(|_| "E6"));
        // An episode closes from S7, and one that has not begun has nothing to close (D81).
        if broken.is_empty() && !states.contains("S7_REVIEW") && !states.contains(&self.initial()) {
            broken.push("FSM");
        }
        if !over(history).is_empty() {
            broken.push("INV-005");
        }
        broken
    }

    /// Returns the finding of INV-005 on a packet after a history: its severity and the budgets that it names (D32, D59).
    pub(crate) fn overrun(history: &[Packet], packet: &Packet) -> Option<(&'static str, BTreeSet<&'static str>)> {
        let with: Vec<Packet> = history.iter().chain([packet]).cloned().collect();
        let commits = ["plan", "authorize", "direct_read", "direct_write", "decide_act", "decide_verify_first"];
        let (before, after) = (over(history), over(&with));
        if commits.contains(&packet.event) && !before.is_empty() {
            return Some(("error", before));
        }
        let named: BTreeSet<_> = (1..=history.len()).flat_map(|length| over(&history[..length])).collect();
        let new: BTreeSet<_> = after.difference(&named).copied().collect();
        (!new.is_empty()).then_some(("warning", new))
    }
}

/// Returns the budgets that are exceeded and not approved after a history.
fn over(history: &[Packet]) -> BTreeSet<&'static str> {
    let decided = history.iter().any(|p| p.event.starts_with("decide_"));
    if !decided || history.iter().any(|p| p.approves) {
        return BTreeSet::new();
    }
    let used = history.iter().fold((0, 0), |used, p| (used.0 + p.spent.0, used.1 + p.spent.1));
    let tokens = (used.0 > BUDGETS.0).then_some("tokens");
    tokens.into_iter().chain((used.1 > BUDGETS.1).then_some("tool calls")).collect()
}

fn bare(state: &str) -> &str {
    state.split('/').next().unwrap()
}

fn with_shared(broken: &[&'static str]) -> (Option<&'static str>, BTreeSet<&'static str>) {
    let mut all: BTreeSet<_> = broken.iter().copied().collect();
    for (rule, invariant) in [("E3", "INV-008"), ("E4", "INV-007")] {
        if all.contains(rule) {
            all.insert(invariant);
        }
    }
    if let Some(first) = broken.first() {
        all.remove(first);
    }
    (broken.first().copied(), all)
}

/// Returns the packets since the decision to verify.
fn looped(history: &[Packet]) -> &[Packet] {
    let start = history.iter().rposition(|p| p.event == "decide_verify_first").map_or(history.len(), |at| at + 1);
    &history[start..]
}

fn complete(history: &[Packet], closing: &Packet) -> bool {
    let looped = looped(history);
    let has = |test: &dyn Fn(&Packet) -> bool| looped.iter().any(test);
    let evidence = |p: &Packet| p.event == "settle" || p.event.starts_with("observe");
    has(&|p| p.event == "plan")
        && has(&|p| p.event == "direct_read")
        && (has(&|p| p.event == "settle" && p.success) || !history.last().unwrap().tools_ok)
        && has(&|p| p.event.starts_with("observe") && p.observed)
        && has(&|p| evidence(p) && closing.cites.contains(&p.id))
}

/// Returns the packets since safe mode last ended, which cancelled everything open.
fn released(history: &[Packet]) -> &[Packet] {
    let start = history.iter().rposition(|p| p.event == "release").map_or(0, |at| at + 1);
    &history[start..]
}

/// Returns the directives without a result, except cancelled ones.
fn open(history: &[Packet]) -> Vec<&Packet> {
    let answered = |id: &str| history.iter().any(|p| p.event == "settle" && p.directive == id);
    released(history).iter().filter(|p| p.event.starts_with("direct_") && !answered(&p.id)).collect()
}

fn live(history: &[Packet], token: Option<&str>) -> bool {
    let Some(token) = token else { return false };
    let issued: Vec<_> = history.iter().filter(|p| p.event == "authorize" && p.token == Some(token)).collect();
    let revoked = history.iter().any(|p| p.event == "alert" && p.token == Some(token));
    let uses = history.iter().filter(|p| p.event == "direct_write" && p.token == Some(token)).count();
    !issued.is_empty() && !revoked && issued.iter().all(|p| uses < p.max_uses)
}
