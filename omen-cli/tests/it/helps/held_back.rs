//! Slips that agents make in logs, and helps that are followed to the letter.

use std::collections::BTreeSet;

use super::*;
use Slip::{Add, Copy, Drop, Move, Remove, Repeat, Set, Text};

/// Change of a log. A packet is identified by its id.
enum Slip {
    /// Sets a value, given as JSON.
    Set(&'static str, &'static str, &'static str),
    Remove(&'static str, &'static str),
    /// Leaves a packet out.
    Drop(&'static str),
    Repeat(&'static str),
    /// Sends a packet again before another one, with another id.
    Copy(&'static str, &'static str, &'static str),
    /// Moves a packet before another one.
    Move(&'static str, &'static str),
    /// Replaces text in a line.
    Text(&'static str, &'static str, &'static str),
    /// Adds a line before a packet.
    Add(&'static str, &'static str),
}

impl Slip {
    /// Makes the change in a log.
    fn make(&self, lines: &mut Vec<String>) {
        let place = |lines: &[String], id: &str| {
            let name = format!("\"packet_id\":\"{id}\"");
            lines.iter().position(|line| line.contains(&name)).unwrap_or_else(|| panic!("no packet {id}"))
        };
        let edit = |line: &mut String, pointer: &str, value: Option<Value>| {
            let mut packet: Value = serde_json::from_str(line).unwrap();
            let (parent, name) = pointer.rsplit_once('/').unwrap();
            match (packet.pointer_mut(parent).unwrap(), value) {
                (Value::Object(fields), Some(value)) => drop(fields.insert(name.to_owned(), value)),
                (Value::Object(fields), None) => drop(fields.remove(name).unwrap()),
                (Value::Array(items), Some(value)) => items[name.parse::<usize>().unwrap()] = value,
                (Value::Array(items), None) => drop(items.remove(name.parse().unwrap())),
                _ => panic!("no value at {parent}"),
            }
            *line = packet.to_string();
        };
        match self {
            Set(id, pointer, value) => {
                let at = place(lines, id);
                edit(&mut lines[at], pointer, Some(serde_json::from_str(value).unwrap()));
            }
            Remove(id, pointer) => {
                let at = place(lines, id);
                edit(&mut lines[at], pointer, None);
            }
            Drop(id) => drop(lines.remove(place(lines, id))),
            Copy(id, before, new) => {
                let line = lines[place(lines, id)].replace(id, new);
                lines.insert(place(lines, before), line);
            }
            Repeat(id) => lines.insert(place(lines, id), lines[place(lines, id)].clone()),
            Move(id, before) => {
                let line = lines.remove(place(lines, id));
                lines.insert(place(lines, before), line);
            }
            Text(id, from, to) => {
                let at = place(lines, id);
                assert!(lines[at].contains(from), "{id} has no {from}");
                lines[at] = lines[at].replacen(from, to, 1);
            }
            Add(before, line) => lines.insert(place(lines, before), (*line).to_owned()),
        }
    }
}

/// A valid log with one mistake.
struct Case {
    name: &'static str,
    log: &'static str,
    /// Code of the finding that is the root.
    code: &'static str,
    slip: &'static [Slip],
    /// The changes that the help describes, where only a person can make them from its words.
    followed: &'static [Slip],
}

const fn case(
    name: &'static str,
    log: &'static str,
    code: &'static str,
    slip: &'static [Slip],
    followed: &'static [Slip],
) -> Case {
    Case { name, log, code, slip, followed }
}

const READ: &str = "read-only";
const WRITE: &str = "verify-then-write";
const TOKENS: &str = "several-tokens";
const ASK: &str = "escalate-then-act";
const HALT: &str = "safe-mode-and-clear";

const CASES: &[Case] = &[
    // Syntax.
    case("a fence of Markdown", READ, "JSON", &[Add("pkt_decision_1", "```json")], &[]),
    case(
        "literals of Python",
        READ,
        "JSON",
        &[Text("pkt_decision_1", ":true", ":True")],
        &[Text("pkt_decision_1", ":True", ":true")],
    ),
    case(
        "a comma before a bracket",
        READ,
        "JSON",
        &[Text("pkt_decision_1", "true}", "true,}")],
        &[Text("pkt_decision_1", ",}", "}")],
    ),
    case(
        "a packet cut off",
        READ,
        "JSON",
        &[Text("pkt_belief_2", "\"pkt_obs_2\"]}}", "\"pkt_obs_2\"]")],
        &[Text("pkt_belief_2", "\"pkt_obs_2\"]", "\"pkt_obs_2\"]}}")],
    ),
    // Names, values and types.
    case(
        "a name in camel case",
        READ,
        "SCHEMA",
        &[Text("pkt_decision_1", "\"decision_outcome\"", "\"decisionOutcome\"")],
        &[],
    ),
    case(
        "a misspelt name",
        WRITE,
        "SCHEMA",
        &[Text("pkt_directive_3", "authorization_token_id", "authorisation_token_id")],
        &[],
    ),
    case(
        "a misspelt packet type",
        WRITE,
        "SCHEMA",
        &[Set("pkt_plan_1", "/header/packet_type", "\"VerificationPlan\"")],
        &[],
    ),
    case(
        "a packet type in snake case",
        READ,
        "SCHEMA",
        &[Set("pkt_belief_1", "/header/packet_type", "\"belief_update_packet\"")],
        &[],
    ),
    case(
        "a value in lower case",
        READ,
        "SCHEMA",
        &[Set("pkt_decision_1", "/payload/decision_outcome", "\"act\"")],
        &[],
    ),
    case("a status of another system", READ, "SCHEMA", &[Set("pkt_result_1", "/payload/result_status", "\"OK\"")], &[]),
    case("half of a value", WRITE, "SCHEMA", &[Set("pkt_decision_1", "/payload/decision_outcome", "\"VERIFY\"")], &[]),
    case("a number in quotes", READ, "SCHEMA", &[Set("pkt_directive_1", "/payload/timeout_seconds", "\"20\"")], &[]),
    case(
        "a boolean in quotes",
        READ,
        "SCHEMA",
        &[Set("pkt_decision_1", "/payload/constraints_satisfied/budget_check", "\"true\"")],
        &[],
    ),
    case("a layer by its name", READ, "SCHEMA", &[Set("pkt_result_1", "/header/layer_source", "\"execution\"")], &[]),
    case("a confidence in percent", READ, "SCHEMA", &[Set("pkt_belief_1", "/mcp/epistemics/confidence", "90")], &[]),
    case("null for a required value", READ, "SCHEMA", &[Set("pkt_belief_1", "/mcp/budgets/token_budget", "null")], &[]),
    case(
        "a time without a zone",
        READ,
        "SCHEMA",
        &[Set("pkt_belief_1", "/header/created_at", "\"2026-03-02T09:14:13\"")],
        &[],
    ),
    case("a time as a number", READ, "SCHEMA", &[Set("pkt_belief_1", "/header/created_at", "1772442853")], &[]),
    case(
        "a text for a list",
        READ,
        "SCHEMA",
        &[Set("pkt_belief_2", "/payload/evidence_integration", "\"pkt_result_1\"")],
        &[Set("pkt_belief_2", "/payload/evidence_integration", "[\"pkt_result_1\"]")],
    ),
    case("an empty text", READ, "SCHEMA", &[Set("pkt_decision_1", "/payload/decision_summary", "\"\"")], &[]),
    case("a field of another protocol", READ, "SCHEMA", &[Set("pkt_obs_1", "/header/trace_id", "\"7f3a\"")], &[]),
    case(
        "JSON inside a string",
        READ,
        "SCHEMA",
        &[Set(
            "pkt_obs_1",
            "/mcp/routing",
            "\"{\\\"task_class\\\":\\\"COMPILE\\\",\\\"tools_state\\\":\\\"tools_ok\\\"}\"",
        )],
        &[Set("pkt_obs_1", "/mcp/routing", "{\"task_class\":\"COMPILE\",\"tools_state\":\"tools_ok\"}")],
    ),
    case(
        "a key twice",
        READ,
        "SCHEMA",
        &[Text("pkt_directive_1", "\"timeout_seconds\":20", "\"timeout_seconds\":20,\"timeout_seconds\":30")],
        &[Text("pkt_directive_1", ",\"timeout_seconds\":30", "")],
    ),
    // Missing fields.
    case(
        "no correlation id",
        READ,
        "SCHEMA",
        &[Remove("pkt_decision_1", "/header/correlation_id")],
        &[Set("pkt_decision_1", "/header/correlation_id", "\"corr_support_invoice_4471\"")],
    ),
    case("no packet id", READ, "SCHEMA", &[Text("pkt_belief_2", "\"packet_id\":\"pkt_belief_2\",", "")], &[]),
    case("no time", READ, "SCHEMA", &[Remove("pkt_decision_1", "/header/created_at")], &[]),
    case("no routing", READ, "SCHEMA", &[Remove("pkt_decision_1", "/mcp/routing")], &[]),
    case("no budgets", WRITE, "SCHEMA", &[Remove("pkt_directive_1", "/mcp/budgets")], &[]),
    case("a plan without targets", WRITE, "SCHEMA", &[Set("pkt_plan_1", "/payload/targets", "[]")], &[]),
    case("a result without a task", READ, "SCHEMA", &[Remove("pkt_result_1", "/payload/task_id")], &[]),
    // Identifiers.
    case("a packet sent twice", READ, "ID", &[Repeat("pkt_belief_2")], &[]),
    case("an id used again", READ, "ID", &[Set("pkt_belief_2", "/header/packet_id", "\"pkt_belief_1\"")], &[]),
    case(
        "a task id used again",
        WRITE,
        "ID",
        &[
            Set("pkt_directive_2", "/payload/task_id", "\"task_max_connections\""),
            Set("pkt_result_2", "/payload/task_id", "\"task_max_connections\""),
        ],
        &[
            Set("pkt_directive_2", "/payload/task_id", "\"task_max_connections_2\""),
            Set("pkt_result_2", "/payload/task_id", "\"task_max_connections_2\""),
        ],
    ),
    // Order.
    case(
        "a belief first",
        READ,
        "FSM",
        &[Drop("pkt_obs_1"), Remove("pkt_belief_1", "/payload/evidence_integration")],
        &[],
    ),
    case("a decision without a belief", READ, "E1", &[Drop("pkt_belief_1")], &[]),
    case("a directive without a decision", READ, "E2", &[Drop("pkt_decision_1")], &[]),
    case("a loop without its plan", WRITE, "E3", &[Drop("pkt_plan_1")], &[]),
    case("a loop that is not decided", "verify-then-defer", "E3", &[Drop("pkt_decision_2")], &[]),
    case(
        "no result",
        READ,
        "E6",
        &[Drop("pkt_result_1"), Remove("pkt_belief_2", "/payload/evidence_integration/0")],
        &[],
    ),
    case(
        "a result before its directive",
        READ,
        "E6",
        &[Move("pkt_result_1", "pkt_directive_1")],
        &[Move("pkt_directive_1", "pkt_result_1")],
    ),
    case("no result at the end", "warning-fsm-ends-in-execute", "E6", &[Drop("pkt_result_1")], &[]),
    case(
        "a result for another directive",
        WRITE,
        "E6",
        &[Set("pkt_result_3", "/payload/directive_packet_id", "\"pkt_directive_9\"")],
        &[],
    ),
    case(
        "a misspelt directive",
        WRITE,
        "E6",
        &[Set("pkt_result_3", "/payload/directive_packet_id", "\"pkt_directve_3\"")],
        &[],
    ),
    case(
        "a result for another task",
        READ,
        "E6",
        &[Set("pkt_result_1", "/payload/task_id", "\"task_of_another\"")],
        &[],
    ),
    case("work in safe mode", HALT, "E7", &[Drop("pkt_alert_2")], &[]),
    // Approvals.
    case("a token that was never issued", WRITE, "E4", &[Drop("pkt_token_1")], &[]),
    case(
        "a token that is not named",
        WRITE,
        "E4",
        &[Remove("pkt_directive_3", "/payload/authorization_token_id")],
        &[Set("pkt_directive_3", "/payload/authorization_token_id", "\"token_pool_120\"")],
    ),
    case(
        "a misspelt token",
        WRITE,
        "E4",
        &[Set("pkt_directive_3", "/payload/authorization_token_id", "\"token_pool_12O\"")],
        &[],
    ),
    case("an expired token", WRITE, "E4", &[Set("pkt_token_1", "/payload/expiry", "\"2026-03-04T02:12:20Z\"")], &[]),
    case("a revoked token", WRITE, "E4", &[Set("pkt_token_1", "/payload/revoked", "true")], &[]),
    case(
        "a second write with one token",
        WRITE,
        "E4",
        &[
            Copy("pkt_directive_3", "pkt_belief_3", "pkt_directive_4"),
            Set("pkt_directive_4", "/payload/task_id", "\"task_pool_121\""),
            Copy("pkt_result_3", "pkt_belief_3", "pkt_result_4"),
            Set("pkt_result_4", "/payload/task_id", "\"task_pool_121\""),
            Set("pkt_result_4", "/payload/directive_packet_id", "\"pkt_directive_4\""),
        ],
        &[],
    ),
    case(
        "a tool that the token does not cover",
        WRITE,
        "INV-007",
        &[Set("pkt_directive_3", "/payload/execution_method/tool_id", "\"pgbouncer.pool.drop\"")],
        &[Set("pkt_directive_3", "/payload/execution_method/tool_id", "\"pgbouncer.pool.set\"")],
    ),
    case(
        "an operation beyond the token",
        TOKENS,
        "INV-007",
        &[Set("pkt_directive_1", "/payload/execution_method/tool_params/operation", "\"delete\"")],
        &[Set("pkt_directive_1", "/payload/execution_method/tool_params/operation", "\"modify\"")],
    ),
    case(
        "a value beyond the token",
        TOKENS,
        "INV-007",
        &[Set("pkt_directive_1", "/payload/execution_method/tool_params/value", "\"relay-9\"")],
        &[Set("pkt_directive_1", "/payload/execution_method/tool_params/value", "\"relay-2\"")],
    ),
    case(
        "a write labelled as a read",
        WRITE,
        "E4",
        &[
            Set("pkt_directive_3", "/payload/tool_safety_class", "\"READ\""),
            Remove("pkt_directive_3", "/payload/authorization_token_id"),
        ],
        &[Set("pkt_directive_3", "/payload/authorization_token_id", "\"token_pool_120\"")],
    ),
    // Questions.
    case(
        "a question with one option",
        ASK,
        "E5",
        &[Remove("pkt_escalation_1", "/payload/top_options/2"), Remove("pkt_escalation_1", "/payload/top_options/1")],
        &[],
    ),
    case(
        "a question without a next step",
        ASK,
        "E5",
        &[Remove("pkt_escalation_1", "/payload/recommended_next_step")],
        &[],
    ),
    // Invariants.
    case(
        "a packet without evidence",
        READ,
        "INV-001",
        &[Set("pkt_decision_1", "/mcp/evidence", "{\"evidence_refs\":[]}")],
        &[],
    ),
    case(
        "an act at SUBPAR",
        "verify-then-defer",
        "INV-002",
        &[
            Set("pkt_decision_2", "/payload/decision_outcome", "\"ACT\""),
            Set("pkt_decision_2", "/mcp/quality/quality_tier", "\"SUBPAR\""),
        ],
        &[Set("pkt_decision_2", "/payload/decision_outcome", "\"DEFER\"")],
    ),
    case(
        "an act at HIGH on nothing verified",
        WRITE,
        "INV-003",
        &[Set("pkt_decision_1", "/payload/decision_outcome", "\"ACT\"")],
        &[],
    ),
    case(
        "a guess as live truth",
        READ,
        "INV-004",
        &[
            Set("pkt_belief_1", "/mcp/epistemics/status", "\"INFERRED\""),
            Set("pkt_belief_1", "/mcp/epistemics/freshness_class", "\"REALTIME\""),
            Set("pkt_belief_1", "/mcp/evidence", "{\"evidence_refs\":[],\"evidence_absent_reason\":\"not looked up\"}"),
        ],
        &[],
    ),
    case(
        "a budget that is exceeded",
        WRITE,
        "INV-005",
        &[Set("pkt_result_1", "/payload/execution_metadata/tokens_used", "90000")],
        &[],
    ),
    case(
        "a veto that is passed over",
        ASK,
        "INV-006",
        &[
            Set("pkt_decision_1", "/payload/decision_outcome", "\"ACT\""),
            Set("pkt_decision_1", "/payload/constraints_satisfied/constitutional_check", "false"),
        ],
        &[
            Set("pkt_decision_1", "/payload/decision_outcome", "\"ESCALATE\""),
            Set("pkt_decision_1", "/payload/constraints_satisfied/constitutional_check", "true"),
        ],
    ),
    case(
        "no policy in the summary",
        READ,
        "INV-006",
        &[Set("pkt_decision_1", "/payload/decision_summary", "\"Read both invoices.\"")],
        &[Set("pkt_decision_1", "/payload/decision_summary", "\"Read both invoices: risk-adjusted.\"")],
    ),
    case(
        "a loop beyond its plan",
        WRITE,
        "INV-008",
        &[Set("pkt_plan_1", "/payload/max_tool_calls", "1")],
        &[Copy("pkt_plan_1", "pkt_directive_2", "pkt_plan_2"), Set("pkt_plan_2", "/payload/max_tool_calls", "2")],
    ),
    case(
        "an act while tools are down",
        "tools-down-escalate-and-cancel",
        "INV-010",
        &[Set("pkt_decision_1", "/payload/decision_outcome", "\"ACT\"")],
        &[],
    ),
    case(
        "a result too late",
        READ,
        "INV-011",
        &[Set("pkt_directive_1", "/payload/timeout_seconds", "2")],
        &[Set("pkt_directive_1", "/payload/timeout_seconds", "4")],
    ),
    case(
        "stakes below their parts",
        WRITE,
        "INV-012",
        &[Set("pkt_belief_1", "/mcp/stakes/stakes_level", "\"LOW\"")],
        &[],
    ),
    case(
        "a wrong layer",
        READ,
        "LAYER",
        &[Set("pkt_decision_1", "/header/layer_source", "6")],
        &[Set("pkt_decision_1", "/header/layer_source", "5")],
    ),
    case(
        "a plan for another decision",
        WRITE,
        "CHAIN",
        &[Set("pkt_plan_1", "/payload/decision_packet_id", "\"pkt_decision_0\"")],
        &[],
    ),
    case(
        "evidence that does not exist",
        READ,
        "CHAIN",
        &[Set("pkt_belief_2", "/payload/evidence_integration/0", "\"pkt_result_9\"")],
        &[Set("pkt_belief_2", "/payload/evidence_integration/0", "\"pkt_result_1\"")],
    ),
    case(
        "a misspelt evidence",
        READ,
        "CHAIN",
        &[Set("pkt_belief_2", "/payload/evidence_integration/0", "\"pkt_reslt_1\"")],
        &[],
    ),
    case(
        "a template that is not filled in",
        READ,
        "CLAIM",
        &[Set("pkt_belief_1", "/mcp/epistemics/calibration_note", "\"…\"")],
        &[Set("pkt_belief_1", "/mcp/epistemics/calibration_note", "\"read from the chat\"")],
    ),
    case(
        "a time hours before",
        READ,
        "TIME",
        &[Set("pkt_obs_2", "/header/created_at", "\"2026-03-02T05:14:29Z\"")],
        &[],
    ),
    case(
        "a first time a year ahead",
        READ,
        "TIME",
        &[Set("pkt_obs_1", "/header/created_at", "\"2027-03-02T09:14:09Z\"")],
        &[Set("pkt_obs_1", "/header/created_at", "\"2026-03-02T09:14:09Z\"")],
    ),
    case(
        "a time a year ahead",
        READ,
        "TIME",
        &[Set("pkt_belief_1", "/header/created_at", "\"2027-03-02T09:14:13Z\"")],
        &[],
    ),
    case("an episode without an end", READ, "FSM", &[Drop("pkt_belief_2")], &[]),
];

/// Returns the log of a case without its mistake and with it.
fn logs(case: &Case) -> (Vec<String>, Vec<String>) {
    let valid: Vec<String> = log(&format!("valid/{}.jsonl", case.log)).lines().map(str::to_owned).collect();
    let mut faulty = valid.clone();
    case.slip.iter().for_each(|slip| slip.make(&mut faulty));
    (valid, faulty)
}

/// Returns the findings that follow from no other, each by what it says.
fn roots(log: &str) -> Vec<Finding> {
    findings(log).into_iter().filter(|finding| finding.follows_from.is_none()).collect()
}

fn identity(finding: &Finding) -> String {
    let diagnostic = &finding.diagnostic;
    format!("{} {:?} {:?} {}", diagnostic.code, finding.packet_id, diagnostic.pointer, diagnostic.message)
}

/// Returns the log after its root was fixed as the finding says: by its edit, or by its help to the letter.
fn fixed(case: &Case, lines: &[String], root: &Finding) -> Option<String> {
    let diagnostic = &root.diagnostic;
    let mut lines = lines.to_vec();
    if !case.followed.is_empty() {
        case.followed.iter().for_each(|change| change.make(&mut lines));
        return Some(lines.join("\n"));
    }
    if let (Some(line), Some(edit), Some(span)) = (root.line, &diagnostic.edit, &diagnostic.span) {
        lines[usize::try_from(line - 1).unwrap()].replace_range(span.clone(), &edit.text);
        lines.retain(|line| !line.is_empty());
        return Some(lines.join("\n"));
    }
    let log = lines.join("\n");
    // What is left to the writer.
    remedy::applied(&log, root, diagnostic.help.as_deref()?).map(|log| log.replace("\"…\"", "\"as known\""))
}

#[expect(clippy::print_stdout, reason = "the counts are what the test measures")]
#[test]
fn slips_are_fixed_from_the_output_alone() {
    let (mut first_try, mut failed, mut remaining, mut reported) = (0, Vec::new(), Vec::new(), BTreeSet::new());
    for case in CASES {
        let (valid, faulty) = logs(case);
        let text = faulty.join("\n");
        let before = roots(&text);
        let known: BTreeSet<_> = before.iter().chain(&findings(&valid.join("\n"))).map(identity).collect();
        let codes = |root: &Finding| [&[root.diagnostic.code][..], &root.diagnostic.also].concat();
        let root = before.iter().find(|root| codes(root).iter().any(|code| code.as_str() == case.code));
        let Some(root) = root else {
            let found: Vec<_> = findings(&text).iter().map(identity).collect();
            failed.push(format!("{}: no root {}: {found:#?}", case.name, case.code));
            continue;
        };
        reported.extend(codes(root));
        let help = root.diagnostic.help.as_deref().unwrap_or_default();
        let says = format!("{}: {}\n    help: {help}", case.name, root.diagnostic);
        let Some(fixed) = fixed(case, &faulty, root) else {
            failed.push(format!("{says}\n    in words only"));
            continue;
        };
        let after = roots(&fixed);
        let is_there = after.iter().any(|left| identity(left) == identity(root));
        let new: Vec<_> = after.iter().map(identity).filter(|left| !known.contains(left)).collect();
        if is_there || !new.is_empty() {
            failed.push(format!("{says}\n    still there: {is_there}; new: {new:#?}"));
            continue;
        }
        let valid: BTreeSet<_> = findings(&valid.join("\n")).iter().map(identity).collect();
        if after.iter().all(|left| valid.contains(&identity(left))) {
            first_try += 1;
        } else {
            remaining.push(format!("{says}: {:#?}", after.iter().map(identity).collect::<Vec<_>>()));
        }
    }
    println!("{} logs, {first_try} fixed at the first try, {} helps fail when followed", CASES.len(), failed.len());
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), CASES.len(), failed.join("\n"));
    assert!(
        first_try + 2 >= CASES.len(),
        "{first_try} of {} are fixed at the first try:\n{}",
        CASES.len(),
        remaining.join("\n")
    );
    let missing: Vec<_> = Code::ALL.iter().filter(|code| !reported.contains(code)).collect();
    assert!(missing.is_empty(), "no log for {missing:?}");
}
