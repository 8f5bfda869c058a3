//! `omen trace` in its formats, and the path that `omen graph` marks.

use super::*;

/// Returns the objects of a trace: of packets, of episodes at their end, and the summary.
fn rows(run: &Run) -> (Vec<Value>, Vec<Value>, Value) {
    let (rows, summary) = json(run);
    let (ends, packets) = rows.into_iter().partition(|row| row.get("end").is_some());
    let ends: Vec<Value> = ends;
    (packets, ends.into_iter().map(|row| row["end"].clone()).collect(), summary)
}

#[test]
fn a_trace_for_programs_says_what_the_one_for_people_says() {
    let logs = format!("{}{}?\n", log(BAD), log("invalid/e6-end-with-directive-open.jsonl"));
    let human = run(omen(["trace", "-"]).write_stdin(logs.as_str()));
    let run = run(omen(["trace", "--format", "json", "-"]).write_stdin(logs.as_str()));
    assert_eq!((run.code, run.stderr.as_str()), (1, ""));
    let (packets, ends, summary) = rows(&run);
    assert_eq!(packets.len(), logs.lines().count());
    for (index, (row, line)) in packets.iter().zip(logs.lines()).enumerate() {
        let packet: Value = serde_json::from_str(line).unwrap_or_default();
        assert_eq!((row["line"].as_u64(), row["packet_index"].as_u64()), (Some(index as u64 + 1), Some(index as u64)));
        for field in ["packet_id", "correlation_id", "packet_type"] {
            assert_eq!(row[field], packet["header"][field]);
        }
        let verdict = if row["accepted"] == true { "  accepted  " } else { "  rejected" };
        let shown = |text: &&str| text.contains(&format!("{:>6} {:>6}", index + 1, format!("#{index}")));
        assert!(human.stdout.lines().find(shown).unwrap().contains(verdict));
    }
    // The line that is not JSON has no facts, and one finding.
    let last = packets.last().unwrap();
    for field in ["packet_id", "event", "before", "after"] {
        assert_eq!(last[field], Value::Null);
    }
    assert_eq!(last["findings"][0]["code"], "JSON");

    let first = &packets[0];
    assert_eq!((&first["event"], &first["accepted"]), (&"observe".into(), &true.into()));
    assert_eq!(
        (&first["before"], &first["after"]),
        (&serde_json::json!(["S0_IDLE"]), &serde_json::json!(["S1_SENSE"]))
    );
    let rejected = &packets[5];
    assert_eq!((&rejected["accepted"], &rejected["before"]), (&false.into(), &rejected["after"]));
    let finding = &rejected["findings"][0];
    assert_eq!((&finding["code"], &finding["also"]), (&"E4".into(), &serde_json::json!(["INV-007"])));

    assert_eq!(ends.len(), 2);
    assert_eq!(ends[0]["state"], serde_json::json!(["S2_MODEL", "S7_REVIEW"]));
    assert_eq!(ends[1]["findings"][0]["code"], "E6");
    assert_eq!((&summary["packets"], &summary["rejected"], &summary["errors"]), (&19.into(), &2.into(), &3.into()));
    assert_eq!(summary["bytes"].as_u64(), Some(logs.len() as u64));
}

#[test]
fn the_fields_of_a_trace_are_a_contract() {
    let run = run(omen(["trace", "--format", "json", "-"]).write_stdin(log(BAD)));
    let lines: Vec<&str> = run.stdout.lines().collect();
    contract::check_keys(
        lines[5],
        &[
            "file",
            "line",
            "packet_index",
            "packet_id",
            "correlation_id",
            "packet_type",
            "event",
            "accepted",
            "before",
            "after",
            "findings",
        ],
    );
    let end = lines[lines.len() - 2].strip_prefix("{\"end\":").unwrap().strip_suffix('}').unwrap();
    contract::check_keys(end, &["file", "correlation_id", "state", "findings"]);
    let (_, finding) = lines[5].split_once("\"findings\":[").unwrap();
    contract::check_keys(finding.strip_suffix("]}").unwrap(), &contract::FIELDS);
}

/// One reader can parse both.
#[test]
fn findings_in_a_trace_are_those_of_the_check() {
    let logs = omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl") && !path.contains("/schema-"));
    // Each line is a packet, and each episode is in its own log.
    let logs: String = logs.map(|(path, text)| text.replace("\"corr_", &format!("\"corr_{}_", path.len()))).collect();
    let checked = run(omen(["check", "--format", "json", "-"]).write_stdin(logs.as_str()));
    let traced = run(omen(["trace", "--format", "json", "-"]).write_stdin(logs.as_str()));
    let (mut expected, total) = json(&checked);
    let (packets, ends, summary) = rows(&traced);
    let found = packets.iter().chain(&ends).flat_map(|row| row["findings"].as_array().unwrap().iter().cloned());
    let mut found: Vec<Value> = found.collect();
    for findings in [&mut expected, &mut found] {
        findings.sort_by_key(|finding| (finding["line"].as_u64().unwrap_or(u64::MAX), finding.to_string()));
    }
    assert!(found.len() > 100 && found.iter().any(|finding| finding["notes"] != serde_json::json!([])));
    assert_eq!(found, expected);
    assert_eq!(summary, total);
}

#[test]
fn several_logs_are_traced_each_on_its_own() {
    let folder = folder(&[("a.jsonl", log(GOOD).as_bytes()), ("b.jsonl", log(BAD).as_bytes())]);
    let human = run(omen(["trace", "a.jsonl", "b.jsonl", "a.jsonl"]).current_dir(&folder));
    assert_eq!((human.code, human.stderr.as_str()), (1, ""));
    let single = run(omen(["trace", "a.jsonl"]).current_dir(&folder)).stdout;
    assert_eq!(human.stdout.matches(&format!("file a.jsonl\n{single}")).count(), 2);
    let as_json = run(omen(["trace", "--format", "json", "a.jsonl", "missing.jsonl", "b.jsonl"]).current_dir(&folder));
    assert_eq!(as_json.code, 3);
    assert!(as_json.stderr.starts_with("omen: cannot read missing.jsonl: "), "{}", as_json.stderr);
    let (packets, ends, summary) = rows(&as_json);
    assert_eq!((ends.len(), &summary["files"], &summary["episodes"]), (2, &2.into(), &2.into()));
    assert_eq!(packets.iter().filter(|row| row["file"] == "b.jsonl").count(), log(BAD).lines().count());
}

#[test]
fn an_episode_is_traced_alone() {
    let logs = format!("{}{}?\n", log(BAD), log(GOOD));
    let bad =
        serde_json::from_str::<Value>(log(BAD).lines().next().unwrap()).unwrap()["header"]["correlation_id"].clone();
    let good =
        serde_json::from_str::<Value>(log(GOOD).lines().next().unwrap()).unwrap()["header"]["correlation_id"].clone();
    let (bad, good) = (bad.as_str().unwrap(), good.as_str().unwrap());
    let trace = |episodes: &[&str]| {
        let episodes = episodes.iter().flat_map(|id| ["--episode", *id]);
        run(omen(["trace", "--format", "json", "-"].into_iter().chain(episodes)).write_stdin(logs.as_str()))
    };
    for (episodes, code, packets, findings) in [
        (&[good][..], 0, log(GOOD).lines().count(), 0),
        (&[bad], 1, log(BAD).lines().count(), 1),
        (&[bad, good], 1, log(BAD).lines().count() + log(GOOD).lines().count(), 1),
    ] {
        let run = trace(episodes);
        let (rows, ends, summary) = rows(&run);
        assert_eq!((run.code, rows.len(), ends.len()), (code, packets, episodes.len()));
        assert!(rows.iter().all(|row| episodes.contains(&row["correlation_id"].as_str().unwrap())));
        assert_eq!((summary["packets"].as_u64(), summary["errors"].as_u64()), (Some(packets as u64), Some(findings)));
    }
    let run = trace(&[good, "corr_nowhere"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.starts_with("omen: no packet of the episode `corr_nowhere`"), "{}", run.stderr);
}

fn graph(args: &[&str], input: &str) -> Run {
    run(omen(["graph"].iter().chain(args).copied()).write_stdin(input))
}

/// Every step of the trace is a marked edge with its line, every state on the path is marked, and the rest is the same as without
/// a log.
#[test]
fn the_path_of_an_episode_is_marked() {
    let plain = graph(&[], "").stdout;
    for path in [
        GOOD,
        BAD,
        WARNED,
        "valid/verify-then-write.jsonl",
        "valid/execute-then-new-cycle.jsonl",
        "valid/safe-mode-and-clear.jsonl",
        "valid/escalate-then-act.jsonl",
    ] {
        let text = log(path);
        let run = graph(&["-"], text);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        let (packets, ..) = rows(&run_trace(text));
        for packet in packets.iter().filter(|packet| packet["accepted"] == true) {
            let (event, line) = (packet["event"].as_str().unwrap(), packet["line"].as_u64().unwrap());
            let is_marked = |edge: &str| {
                let Some((_, label)) = edge.split_once(&format!("✓ {event} (line ")) else { return false };
                let (lines, _) = label.split_once(')').unwrap();
                lines.split(", ").any(|shown| shown == line.to_string())
            };
            assert!(run.stdout.lines().any(is_marked), "{path}: {event} in line {line}\n{}", run.stdout);
        }
        // Without the marks, the diagram is the plain one.
        let unmarked = run.stdout.lines().filter(|line| !line.contains("✓") && line.contains("-->"));
        for edge in unmarked {
            let (ends, events) = edge.split_once(" : ").unwrap_or((edge, ""));
            let same = plain.lines().find(|line| line.split(" : ").next() == Some(ends)).unwrap();
            assert!(events.split(", ").all(|event| same.contains(event)), "{edge}");
        }
        assert_eq!(run.stdout.matches("class ").count(), 2, "{}", run.stdout);
        // Events that leave a state where it is have one edge: the labels of several would lie on each other.
        let dot = graph(&["--format", "dot", "-"], text).stdout;
        for (drawn, arrow) in [(&run.stdout, " --> "), (&dot, " -> ")] {
            let ends = drawn.lines().filter_map(|line| {
                let (from, rest) = line.trim().split_once(arrow)?;
                let to = rest.split([' ', ';']).next()?;
                (from == to).then_some(from)
            });
            let loops: Vec<_> = ends.collect();
            assert!(
                loops.len() > 3 && loops.iter().all(|at| loops.iter().filter(|other| *other == at).count() == 1),
                "{drawn}"
            );
        }
    }
}

/// An edge lists its first lines.
#[test]
fn an_edge_that_is_taken_often_stays_short() {
    let text = graph(&["-"], log("valid/alerts-everywhere.jsonl")).stdout;
    let alerts = text.lines().find(|line| line.contains(" : ✓ alert (line ")).unwrap();
    assert!(alerts.ends_with(" more)") && alerts.len() < 100, "{alerts}");
}

fn run_trace(text: &str) -> Run {
    run(omen(["trace", "--format", "json", "-"]).write_stdin(text))
}

#[test]
fn a_rejected_packet_is_noted_where_it_was_rejected() {
    let text = graph(&["-"], log(BAD)).stdout;
    assert!(text.contains("    note right of S5_AUTHORIZE : rejected in line 6 E4\n"), "{text}");
    let text = graph(&["--format", "dot", "-"], log(BAD)).stdout;
    assert!(text.contains("\"S5_AUTHORIZE\" -> \"rejected in S5_AUTHORIZE\""), "{text}");
    assert_eq!(text.matches('{').count(), text.matches('}').count());
    assert_eq!(text.matches('"').count() % 2, 0);
    // An alert changes no state.
    assert!(text.contains("\"ANY\" -> \"ANY\" [label=\"alert\\n(line 5)\""), "{text}");
}

/// A belief update after S6 leads to S2 or S7 (D11): the next packet shows which.
#[test]
fn the_path_has_only_nodes_from_which_the_next_step_was_possible() {
    let text = graph(&["-"], log(GOOD)).stdout;
    // At the end of the log, both are possible.
    assert!(text.contains("class S2_MODEL,S7_REVIEW last"), "{text}");
    let first = log(GOOD).lines().next().unwrap();
    let again = first.replace("\"packet_id\":\"", "\"packet_id\":\"pkt_again_").replace("pkt_again_pkt_", "pkt_again_");
    let last: Value = serde_json::from_str(log(GOOD).lines().last().unwrap()).unwrap();
    let again = again.replace(
        serde_json::from_str::<Value>(first).unwrap()["header"]["created_at"].as_str().unwrap(),
        last["header"]["created_at"].as_str().unwrap(),
    );
    let more = format!("{}{again}\n", log(GOOD));
    let text = graph(&["-"], &more).stdout;
    let line = log(GOOD).lines().count();
    assert!(text.contains("class S1_SENSE last"), "{text}");
    assert!(text.contains(&format!("S6_EXECUTE --> S7_REVIEW : ✓ believe (line {line})")), "{text}");
    assert!(!text.contains("S6_EXECUTE --> S2_MODEL : ✓"), "{text}");
}

#[test]
fn an_episode_to_draw_is_chosen() {
    let both = format!("{}{}", log(BAD), log(GOOD));
    let several = graph(&["-"], &both);
    assert_eq!((several.code, several.stdout.as_str()), (2, ""));
    assert!(
        several.stderr.contains(
            "the log contains several episodes; choose one, for example with `--episode corr_archive_trim_3`"
        )
    );
    let chosen = graph(&["--episode", "corr_archive_trim_3", "-"], &both);
    assert_eq!(chosen.stdout, graph(&["-"], log(BAD)).stdout);
    assert_eq!(graph(&["--episode", "corr_x", "-"], &both).code, 2);
    assert_eq!(graph(&["--episode", "corr_x"], "").code, 2);
    assert_eq!(graph(&["-"], "").code, 2);
    assert_eq!(graph(&["missing.jsonl"], "").code, 3);
}
