//! The other commands.

use std::collections::BTreeSet;

use omen::Code;

use super::*;

fn stdout<'a>(args: impl IntoIterator<Item = &'a str>) -> String {
    let run = run(&mut omen(args));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    run.stdout
}

#[test]
fn every_code_is_explained_with_an_example() {
    for code in Code::ALL {
        let text = stdout(["explain", code.as_str()]);
        assert!(text.starts_with(&format!("{code}: {}\n", code.info().title)));
        for heading in ["\nWhen\n", "\nRule\n", "\nWhy\n", "\nHelp\n"] {
            assert!(text.contains(heading), "{code}: {heading}");
        }
        let refused = text.contains("\nRejected\n") && text.contains("\nerror[") && text.contains("\nFixed\n");
        let warned = text.contains("\nAccepted with a warning\n") && text.contains(&format!("\nwarning[{code}]"));
        assert!(refused || warned, "{text}");
        assert!(text.contains("--> rejected example") && !text.contains("schema/"), "{text}");
    }
}

/// An overrun is a warning first, and an error with the next packet.
#[test]
fn what_a_rule_refuses_is_shown_rather_than_what_it_warns_of() {
    let text = stdout(["explain", "INV-005"]);
    assert!(text.contains("\nRejected\n") && text.contains("\nerror[INV-005]"), "{text}");
}

#[test]
fn a_code_is_explained_with_the_steps_that_it_refuses() {
    for code in Code::ALL {
        let refuses = stdout(["explain", code.as_str()]).contains("\nRefuses\n");
        assert_eq!(refuses, omen_fsm::REFUSALS.iter().any(|refusal| refusal.code == *code), "{code}");
    }
    let text = stdout(["explain", "E3"]);
    assert!(text.contains("\n  - in S4_VERIFY, every packet without a row in the table: "), "{text}");
    let text = stdout(["explain", "E7"]);
    assert!(text.contains("\n  - in S9_SAFEMODE, every packet without a row in the table: "), "{text}");
}

#[test]
fn every_code_of_the_gate_is_explained() {
    for code in omen_gate::GateCode::ALL {
        let text = stdout(["explain", code.as_str()]);
        assert!(text.starts_with(&format!("{code}: {}\n\n  stage        gate\n", code.title())), "{text}");
        let prose = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [code.statement(), code.rationale(), code.help(), code.source()] {
            assert!(prose.contains(&part.split_whitespace().collect::<Vec<_>>().join(" ")), "{code}: {part}");
        }
        assert!(text.contains("\nRefused\n  ") && text.contains("\nFixed\n  "), "{text}");
    }
    assert_eq!(stdout(["explain", "inv-3"]), stdout(["explain", "INV-003"]));
    for (code, error) in
        [("inv-13", "the codes of this kind are INV-001 to INV-012"), ("inv3", "did you mean `INV-003`?")]
    {
        let run = run(&mut omen(["explain", code]));
        assert!(run.code == 2 && run.stderr.contains(error), "{}", run.stderr);
    }
    let run = run(&mut omen(["explain", "PG3"]));
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("unknown code `PG3`; did you mean `PG-3`?"), "{}", run.stderr);
}

#[test]
fn a_decision_is_explained() {
    let text = stdout(["explain", "d36"]);
    assert!(text.starts_with("D36: the level of stakes\n\n  INV-012 only warns."), "{text}");
    assert!(text.contains("\n\n  - CRITICAL: ") && text.contains("\n  - HIGH: "), "{text}");
}

/// The examples are part of the command, so that they can be read without its sources.
#[test]
fn the_logs_of_an_example_are_printed() {
    for (which, code) in [("rejected", 1), ("fixed", 0)] {
        let log = stdout(["explain", "E4", "--example", which]);
        assert_eq!(run(omen(["check", "-"]).write_stdin(log)).code, code, "{which}");
    }
    let run = run(&mut omen(["explain", "PG-3", "--example", "fixed"]));
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("only codes of `omen check` have example logs"), "{}", run.stderr);
}

/// The underlined fix differs from the refused text.
#[test]
fn a_fixed_example_shows_what_was_changed() {
    for code in Code::ALL {
        let text = stdout(["explain", code.as_str()]);
        let Some((rejected, fixed)) = text.split_once("\nFixed\n") else { continue };
        let excerpt =
            |part: &str| part.lines().find(|line| line.contains(" | {") || line.contains(" | …")).map(str::to_owned);
        assert!(fixed.contains("accepted here") || fixed.contains("this packet comes here"), "{text}");
        assert_ne!(excerpt(rejected), excerpt(fixed), "{text}");
    }
    assert!(stdout(["explain", "E1"]).contains("this packet comes here"));
}

#[test]
fn codes_are_taken_in_any_case() {
    assert_eq!(stdout(["explain", "pg-t"]), stdout(["explain", "PG-T"]));
    assert_eq!(stdout(["explain", "inv-007"]), stdout(["explain", "INV-007"]));
}

#[test]
fn all_rules_are_listed() {
    let text = stdout(["rules"]);
    let rules: Vec<Value> = serde_json::from_str(&stdout(["rules", "--format", "json"])).unwrap();
    let (rules, gate) = rules.split_at(Code::ALL.len());
    for (rule, code) in rules.iter().zip(Code::ALL) {
        let info = code.info();
        assert!(text.lines().any(|line| line.starts_with(info.code) && line.ends_with(info.title)), "{code}");
        let expect = serde_json::json!({
            "code": info.code, "title": info.title, "stage": info.stage.as_str(), "severity": info.severity,
            "policy": info.policy, "condition": info.condition, "statement": info.statement,
            "rationale": info.rationale, "help": info.help, "source": info.source,
            "shared_with": info.shared_with.map(|code| code.as_str()),
        });
        assert_eq!(*rule, expect);
    }
    assert_eq!(gate.len(), omen_gate::GateCode::ALL.len());
    for (rule, code) in gate.iter().zip(omen_gate::GateCode::ALL) {
        assert!(text.lines().any(|line| line.starts_with(code.as_str()) && line.ends_with(code.title())), "{code}");
        let expect = serde_json::json!({
            "code": code.as_str(), "title": code.title(), "stage": "gate", "severity": "error", "policy": [],
            "condition": null, "statement": code.statement(), "rationale": code.rationale(), "help": code.help(),
            "source": code.source(), "shared_with": null,
        });
        assert_eq!(*rule, expect);
    }
}

#[test]
fn every_schema_file_and_definition_is_printed() {
    let list = stdout(["schema"]);
    for (path, text) in omen_schema::FILES {
        assert!(list.lines().any(|line| line.ends_with(path)), "{path}");
        let stem = path.rsplit('/').next().unwrap().split('.').next().unwrap();
        assert_eq!(stdout(["schema", &stem.to_uppercase()]).trim_end(), text.trim_end());
    }
    let printed: Value = serde_json::from_str(&stdout(["schema", "tokenid"])).unwrap();
    let common: Value = serde_json::from_str(omen_schema::file("common.schema.json").unwrap()).unwrap();
    assert_eq!(printed, common["$defs"]["TokenId"]);
}

#[test]
fn a_trace_has_a_line_a_packet_and_the_end() {
    let run = run(omen(["trace", "-"]).write_stdin(log(BAD)));
    assert_eq!((run.code, run.stderr.as_str()), (1, ""));
    let packets = log(BAD).lines().count();
    let verdicts = |verdict: &str| run.stdout.lines().filter(|line| line.contains(verdict)).count();
    assert_eq!((verdicts("  accepted  "), verdicts("  rejected  ")), (packets - 1, 1));
    assert!(run.stdout.contains("S0_IDLE -> S1_SENSE: "), "{}", run.stdout);
    assert!(
        run.stdout.contains("    error[E4, INV-007]: the token `token_trim_early` has expired\n"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("\nend of the stream\n"));
    assert!(run.stdout.lines().last().unwrap().contains("S7_REVIEW"), "{}", run.stdout);
}

#[test]
fn a_trace_shows_where_each_episode_ends() {
    let log = format!("{}{}", log("invalid/e6-end-with-directive-open.jsonl"), log(GOOD));
    let run = run(omen(["trace", "-"]).write_stdin(log));
    assert_eq!(run.code, 1);
    let (_, end) = run.stdout.split_once("end of the stream\n").unwrap();
    assert_eq!(end.lines().filter(|line| line.contains("episode corr_") && line.contains(" in S")).count(), 2, "{end}");
    assert!(end.contains("error[E6]"), "{end}");
}

#[test]
fn the_mermaid_drawing_has_the_tables_states_and_edges() {
    let text = stdout(["graph"]);
    assert_eq!(text, stdout(["graph", "--format", "mermaid"]));
    assert!(text.starts_with("stateDiagram-v2\n"));
    assert_eq!(text.matches('{').count(), text.matches('}').count());
    let id = |node: &str| node.replace('/', "_");
    let mut drawn = BTreeSet::new();
    for line in text.lines().filter(|line| line.contains("-->")) {
        let (from, rest) = line.trim().split_once(" --> ").unwrap();
        let (to, label) = rest.split_once(" : ").unwrap_or((rest, ""));
        assert!(
            [from, to].iter().all(|id| id.chars().all(|c| c.is_ascii_alphanumeric() || "_[]*".contains(c))),
            "{line}"
        );
        for event in label.split(", ") {
            drawn.insert((from.to_owned(), event.to_owned(), to.to_owned()));
        }
    }
    for node in omen_fsm::Node::ALL {
        let (_, name) = node.as_str().rsplit_once('/').unwrap_or(("", node.as_str()));
        assert!(text.contains(&format!("state \"{name}\" as {}\n", id(node.as_str()))), "{node:?}");
        for event in omen_fsm::Event::ALL {
            for to in omen_fsm::NodeSet::of(*node).after(*event).iter() {
                let edge = |from: &str, to: &str| drawn.contains(&(id(from), event.as_str().to_owned(), id(to)));
                let any = edge("ANY", to.as_str()) || (to == *node && edge("ANY", "ANY"));
                assert!(any || edge(node.as_str(), to.as_str()), "{node:?} {event:?} {to:?}");
            }
        }
    }
}

#[test]
fn the_dot_drawing_is_whole() {
    let text = stdout(["graph", "--format", "dot"]);
    assert!(text.starts_with("digraph episode {\n") && text.ends_with("}\n"));
    assert_eq!(text.matches('{').count(), text.matches('}').count());
    assert_eq!(text.matches('"').count() % 2, 0);
    let declared: BTreeSet<&str> =
        text.lines().filter(|line| !line.contains("->")).filter_map(|line| line.split('"').nth(1)).collect();
    for line in text.lines().filter(|line| line.contains("->")) {
        let quoted: Vec<&str> = line.split('"').collect();
        assert!(declared.contains(quoted[1]) && declared.contains(quoted[3]), "{line}");
    }
    assert!(text.contains("subgraph \"cluster_S3_DECIDE\""));
}

#[test]
fn every_shell_gets_its_completions() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = stdout(["completions", shell]);
        assert!(script.contains("omen") && script.contains("explain"), "{shell}");
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = TempDir::new().unwrap();
    let pages = folder.path().join("share/man1");
    assert_eq!(stdout(["man", pages.to_str().unwrap()]), "");
    let page = |name: &str| fs::read_to_string(pages.join(format!("{name}.1"))).unwrap_or_else(|_| panic!("{name}"));
    assert!(page("omen").contains(&format!(".TH omen 1  \"omen {}\"", env!("CARGO_PKG_VERSION"))), "{}", page("omen"));
    assert!(page("omen-check").contains("\\-\\-baseline") && page("omen-check").contains("Exit codes:"));
    for group in ["", "gate", "audit"] {
        let help = stdout([group, "--help"].into_iter().filter(|word| !word.is_empty()));
        let (_, list) = help.split_once("\nCommands:\n").expect("subcommands");
        let names = list.lines().take_while(|line| !line.is_empty()).filter_map(|line| line.strip_prefix("  "));
        for name in names.filter_map(|line| line.split(' ').next()).filter(|name| !["", "help"].contains(name)) {
            page(&["omen", group, name].into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-"));
        }
    }
    let run = run(&mut omen(["man", "/dev/null/pages"]));
    assert_eq!(run.code, 3);
    assert!(run.stderr.starts_with("omen: cannot write /dev/null/pages: "), "{}", run.stderr);
}

#[test]
fn help_shows_exit_codes_and_an_example() {
    for args in [&["--help"][..], &["check", "--help"]] {
        let text = stdout(args.iter().copied());
        assert!(text.contains("Exit codes:\n  0") && text.contains("Examples:\n  omen check"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
    assert_eq!(stdout(["--version"]), format!("omen {}\n", env!("CARGO_PKG_VERSION")));
}
