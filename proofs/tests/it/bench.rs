use std::cell::Cell;
use std::collections::BTreeMap;

use omen::{Code, Finding, Stage, Summary, Validator};
use omen_proofs::bench::corpus::{Corpus, Form, Kind, Plan, faults};
use omen_proofs::bench::editor;
use omen_proofs::bench::gate::{self, Counts};
use omen_proofs::bench::hook::{self, HookCounts, HookReport, MeasuredHook};
use omen_proofs::bench::proxy;
use omen_proofs::bench::scaling::{self, Size};
use omen_proofs::bench::workers::{self, simulation};
use omen_proofs::bench::{allocations, episode, order};

const EPISODES: u64 = 200;

#[test]
fn a_seed_makes_the_same_corpus_everywhere() {
    let corpus = Corpus::generate(7, EPISODES, Form::Compact);
    assert_eq!(corpus.bytes, Corpus::generate(7, EPISODES, Form::Compact).bytes);
    assert_ne!(corpus.bytes, Corpus::generate(8, EPISODES, Form::Compact).bytes);
    // A change of the generator changes the results of the benchmark, and this hash.
    assert_eq!(fnv(&corpus.bytes), 13_326_432_196_048_042_109, "hash of the corpus");
}

#[test]
fn the_corpus_is_judged_clean_in_every_form() {
    let corpora = [Form::Compact, Form::Shuffled, Form::Python].map(|form| Corpus::generate(7, EPISODES, form));
    let [plain, others @ ..] = corpora.each_ref().map(judge);
    assert_eq!((plain.packets, plain.episodes, plain.errors), (corpora[0].packets, EPISODES, 0));
    assert!(plain.warnings * 100 <= plain.packets, "{plain:?}");
    let size = plain.bytes / plain.packets;
    assert!((1000..4000).contains(&size), "packets of {size} bytes");
    for (other, corpus) in others.iter().zip(&corpora[1..]) {
        assert_eq!(Summary { bytes: plain.bytes, ..*other }, plain, "the form does not matter");
        assert_ne!(corpora[0].bytes, corpus.bytes);
    }
}

#[test]
fn every_form_has_the_same_packets() {
    let [plain, shuffled, python] =
        [Form::Compact, Form::Shuffled, Form::Python].map(|form| Corpus::generate(3, 20, form));
    assert_eq!(values(&plain), values(&shuffled));
    assert_eq!(values(&plain), values(&python));
    let python = String::from_utf8(python.bytes).expect("ASCII");
    assert!(python.starts_with("{\"header\": {\"packet_id\": \"pkt_") && python.is_ascii(), "{python:.80}");
}

#[test]
fn a_log_in_pieces_is_the_same_log() {
    let whole = Corpus::generate(7, 50, Form::Compact);
    let (mut bytes, mut packets) = (Vec::new(), 0);
    Plan::new(7, 50).pieces(10_000, |piece, count| {
        assert_eq!(piece.iter().filter(|byte| **byte == b'\n').count() as u64, count);
        bytes.extend(piece);
        packets += count;
    });
    assert_eq!((bytes, packets), (whole.bytes, whole.packets));
}

#[test]
fn closed_episodes_have_nothing_left_to_do() {
    let mut validator = Validator::new(omen::ValidatorOptions::default());
    let mut findings: Vec<Finding> = Vec::new();
    let plan = Plan { kind: Kind::Closed, ..Plan::new(7, EPISODES) };
    plan.pieces(1, |line, _| validator.feed(line, &mut findings).unwrap_or_default());
    let Ok(summary) = validator.finish(&mut findings);
    assert_eq!((summary.episodes, summary.rejected), (EPISODES, 0), "{findings:?}");
    assert!(!findings.iter().any(|finding| finding.stage == Stage::End), "{findings:?}");
}

#[test]
fn a_tenth_of_the_faulty_log_is_rejected_for_many_reasons() {
    let corpus = Corpus::generate(7, EPISODES, Form::Compact);
    let faulty = faults::faulty(&corpus, 7, faults::TENTH);
    let mut findings: Vec<Finding> = Vec::new();
    let mut validator = Validator::new(omen::ValidatorOptions::default());
    validator.feed(&faulty.bytes, &mut findings).unwrap_or_default();
    let Ok(summary) = validator.finish(&mut findings);
    assert_eq!(summary.packets, faulty.packets);
    assert_eq!(summary.accepted, corpus.packets, "the other packets stay legal");
    assert_eq!(summary.rejected, faulty.packets - corpus.packets, "every faulty packet is rejected");
    assert!((summary.packets * 8..summary.packets * 12).contains(&(summary.rejected * 100)), "{summary:?}");
    let mut codes: BTreeMap<Code, usize> = BTreeMap::new();
    findings.iter().for_each(|finding| *codes.entry(finding.diagnostic.code).or_default() += 1);
    println!("{codes:?}");
    assert!(codes.len() >= 7, "{codes:?}");
    for stage in [Stage::Json, Stage::Schema, Stage::Fsm, Stage::Invariant] {
        assert!(codes.keys().any(|code| code.info().stage == stage), "none of {stage}: {codes:?}");
    }
}

#[test]
fn each_size_of_a_log_is_measured() {
    let sizes = [Size { episodes: 20, interleaved: 1 }, Size { episodes: 40, interleaved: 10 }];
    let report = scaling::run(7, &sizes).expect("the logs are clean");
    assert_eq!(report.scaling.iter().map(|row| row.episodes).collect::<Vec<_>>(), [20, 40]);
    assert!(report.scaling.iter().all(|row| row.verdict_mb_s > 0.0 && row.verdict_over_skip > 0.0), "{report}");
    assert!(report.to_string().contains("at a time"));
}

#[test]
fn allocations_are_counted_for_a_packet() {
    // Each reading is 1,000 more than the one before.
    let readings = Cell::new(0);
    let counts = allocations::count(10, || {
        readings.set(readings.get() + 1_000);
        readings.get()
    });
    let counts = counts.expect("the corpus and the episodes are clean");
    let log = Corpus::generate(7, 10, Form::Compact).packets;
    assert_eq!(counts.per_verdict, 1_000.0 / log as f64);
    assert_eq!(counts.per_verdict, counts.per_parse);
    // An episode of the typed API has six packets.
    assert_eq!([counts.per_step, counts.per_emit, counts.per_hand], [1_000.0 / 60.0; 3]);
}

#[track_caller]
fn judge(corpus: &Corpus) -> Summary {
    let mut findings: Vec<Finding> = Vec::new();
    let mut validator = Validator::new(omen::ValidatorOptions::default());
    validator.feed(&corpus.bytes, &mut findings);
    let Ok(summary) = validator.finish(&mut findings);
    assert_eq!(summary.errors, 0, "{:#?}", findings.first());
    summary
}

fn values(corpus: &Corpus) -> Vec<serde_json::Value> {
    serde_json::Deserializer::from_slice(&corpus.bytes).into_iter().map(|value| value.expect("JSON")).collect()
}

/// FNV-1a, which never changes, unlike the hashers of the standard library.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn the_gate_is_measured_in_all_its_parts() {
    let counts = Counts { rounds: 2, calls: 3, entries: 5, synced: 2 };
    let report = gate::run(&counts).expect("every call passes, and every log is sound");
    let json = serde_json::to_value(&report).expect("JSON");
    let lists = ["steps", "writers"];
    let numbers = json.as_object().expect("an object").iter().filter(|(name, _)| !lists.contains(&name.as_str()));
    let writers =
        json["writers"].as_array().expect("a list").iter().flat_map(|cost| cost.as_object().expect("an object"));
    for (name, value) in numbers.chain(writers) {
        assert!(value.as_f64().is_some_and(|number| number > 0.0), "{name}: {value}");
    }
    assert_eq!(report.steps.iter().map(|cost| cost.step).collect::<Vec<_>>().join(" "), WAY);
    assert!(report.steps.iter().all(|cost| cost.us > 0.0), "{report}");
    assert_eq!(report.writers.len(), 3);
    let table = report.to_string();
    assert!(table.contains("µs") && table.contains("a second") && table.contains("sync_data"), "{table}");
}

#[test]
fn the_order_rules_are_measured_in_all_their_parts() {
    let counts = order::OrderCounts { rounds: 2, calls: 3, synced: 2, sessions: 5 };
    let report = order::run(&counts).expect("every premise is there");
    let json = serde_json::to_value(&report).expect("JSON");
    let costs = json["by_premises"].as_array().expect("a list");
    assert_eq!(costs.len(), 3);
    let of_costs = costs.iter().flat_map(|cost| cost.as_object().expect("an object"));
    let numbers = json.as_object().expect("an object").iter();
    for (name, value) in numbers.filter(|(_, value)| !value.is_array() && !value.is_null()).chain(of_costs) {
        let least = if name == "elsewhere" || name == "session_bytes" { -1.0 } else { 0.0 };
        assert!(value.as_f64().is_some_and(|number| number > least), "{name}: {value}");
    }
    let table = report.to_string();
    assert!(table.contains("1000 on the tool, 0 on others") && table.contains("its sync, µs"), "{table}");
    assert!(table.contains("a proof about 1,000 rules, of which one differs, ms"), "{table}");
}

#[test]
fn the_typed_api_is_measured_in_all_its_parts() {
    let counts = episode::Counts { rounds: 2, episodes: 3, leases: 50 };
    let report = episode::run(&counts).expect("every episode ends");
    let json = serde_json::to_value(&report).expect("JSON");
    // Another program counts allocations.
    let timed = json.as_object().expect("an object").iter().filter(|(name, _)| !name.starts_with("allocations_"));
    for (name, value) in timed {
        assert!(value.as_f64().is_some_and(|number| number > 0.0), "{name}: {value}");
    }
    let table = report.to_string();
    assert!(table.contains("typed / judged") && table.contains("a lease"), "{table}");
}

/// The steps of a request to the gate.
const WAY: &str = "screen plan conform authorize dispatch type_output ground";

/// The command that is measured is not built for this test: the stand-in server speaks for it.
#[test]
#[cfg(unix)]
fn the_proxy_is_measured_against_the_server_behind_it() -> Result<(), omen_proofs::Failure> {
    use std::os::unix::fs::PermissionsExt;

    let server = env!("CARGO_BIN_EXE_omen-proofs");
    let folder = tempfile::tempdir()?;
    let omen = folder.path().join("omen");
    let script =
        format!("#!/bin/sh\nif [ \"$1\" = audit ]; then : > \"$3\"; exit; fi\nexec '{server}' bench --child-server\n");
    std::fs::write(&omen, script)?;
    std::fs::set_permissions(&omen, PermissionsExt::from_mode(0o700))?;
    let server = vec![server.into(), "bench".into(), "--child-server".into()];
    let counts = proxy::Counts { rounds: 1, calls: 3, clients: vec![1, 2], shared_calls: 4 };
    let report = proxy::run(&counts, &proxy::Programs { omen, server, official: None })?;
    let latency = &report.latency[0];
    assert!([latency.bare, latency.list, latency.files, latency.synced].iter().all(|of| of.p50_us > 0.0));
    assert!(report.throughput.iter().all(|of| of.bare_s > 0.0 && of.files_s > 0.0 && of.synced_s > 0.0));
    assert_eq!(report.throughput.iter().map(|of| of.clients).collect::<Vec<_>>(), [1, 2]);
    let text = report.to_string();
    assert!(text.contains("added, no sync") && text.contains("2 clients"), "{text}");

    // A call that fails does not count as a measurement.
    let gone = proxy::Programs { omen: "/nowhere".into(), server: vec!["true".into()], official: None };
    assert!(proxy::run(&counts, &gone).is_err());
    Ok(())
}

#[test]
fn an_edit_above_the_bound_is_shown() {
    let log = |name, p99_us| {
        let latency = proxy::Quantiles { p50_us: 900.0, p99_us };
        editor::EditedLog { name, bytes: 1_000_000, findings: 2, latency }
    };
    let logs = vec![log("quick", 49_000.0), log("slow", 51_000.0)];
    let text = editor::EditorReport { logs, edits: 3, bound_ms: editor::BOUND_MS }.to_string();
    let rows: Vec<_> = text.lines().filter(|line| line.contains("above the bound")).collect();
    assert!(matches!(rows[..], [row] if row.contains("slow") && row.contains("51.0")), "{text}");

    // A server that ends does not count as a measurement.
    let counts = editor::EditorCounts { seed: 7, episodes: 1, edits: 1 };
    assert!(editor::run(counts, "true".as_ref()).is_err());
    assert!(editor::run(counts, "/nowhere".as_ref()).is_err());
}

#[test]
fn a_hook_above_its_bounds_is_shown() {
    let of = |resident, p50_us, p99_us| MeasuredHook {
        resident,
        synced: false,
        entries: 9,
        latency: proxy::Quantiles { p50_us, p99_us },
    };
    // The bounds are for a resident.
    let hooks = vec![of(false, 9e3, 90e3), of(true, 4.9e3, 14.9e3), of(true, 5.1e3, 7e3), of(true, 4e3, 15.1e3)];
    let start = proxy::Quantiles { p50_us: 1e3, p99_us: 2e3 };
    let text = HookReport { start, hooks, calls: 3 }.to_string();
    let above: Vec<_> = text.lines().map(|line| line.ends_with("above a bound")).collect();
    assert_eq!(above, [false, false, false, false, true, true, false], "{text}");
    assert!(text.contains("4.9    14.9     4.9     5, 15"), "{text}");

    // A hook that allows nothing does not count as a measurement.
    for omen in ["true", "/nowhere"] {
        assert!(hook::run(HookCounts { calls: 1 }, omen.as_ref()).is_err());
    }
}

#[test]
fn a_share_of_the_packets_is_faulty() {
    let corpus = Corpus::generate(7, EPISODES, Form::Compact);
    let faulty = faults::faulty(&corpus, 7, 50);
    let share = (faulty.packets - corpus.packets) as f64 / corpus.packets as f64;
    assert!((0.01..0.03).contains(&share), "{share}");
}

#[test]
fn more_workers_judge_more_until_all_partitions_have_one() {
    // A worker judges 2,000 packets a second, and a stream stores 5,000.
    let times = simulation::Times { judge: 500_000.0, store: 200_000.0, send: 100_000.0 };
    let simulate = || simulation::simulate(times, (8, 4), 7, 24_000);
    let rows = simulate().rows;
    let of = |workers, partitions| {
        let row = rows.iter().find(|row| (row.workers, row.partitions) == (workers, partitions));
        *row.unwrap_or_else(|| panic!("{workers} workers"))
    };
    assert_eq!(rows.len(), 5, "{rows:?}");
    let one = of(1, 4);
    assert!((1_700.0..2_100.0).contains(&one.packets_s) && one.busy > 0.9, "{one:?}");
    assert!(rows.iter().all(|row| row.busy <= 1.0), "{rows:?}");
    // Four are as fast as four, but for those whose partitions have fewer packets.
    assert!((3.5..4.1).contains(&of(4, 4).over_one), "{rows:?}");
    // With four partitions, four of eight have nothing to do.
    assert!((0.95..1.05).contains(&(of(8, 4).packets_s / of(4, 4).packets_s)) && of(8, 4).busy < 0.51, "{rows:?}");
    assert!((6.5..8.1).contains(&of(8, 8).over_one), "{rows:?}");
    // A finding waits 50 ms at most for its commit.
    assert!(rows.iter().all(|row| (1.0..60.0).contains(&row.finding_ms.p50)), "{rows:?}");
    assert!(rows.iter().all(|row| row.finding_ms.p50 <= row.finding_ms.p99), "{rows:?}");
    assert_eq!(format!("{rows:?}"), format!("{:?}", simulate().rows), "a seed gives the same everywhere");
}

#[test]
fn a_stream_stores_one_packet_after_the_other() {
    // Two streams store 1,000 packets a second each, so eight workers judge no more.
    let times = simulation::Times { judge: 100_000.0, store: 1_000_000.0, send: 10_000.0 };
    let rows = simulation::simulate(times, (2, 2), 7, 24_000).rows;
    assert!(rows.iter().all(|row| (1_800.0..2_100.0).contains(&row.packets_s)), "{rows:?}");
}

#[test]
fn figures_of_workers_are_read_again() {
    let quantiles = serde_json::json!({ "p50": 1.0, "p99": 2.0 });
    let figures = serde_json::json!({
        "throughput": {
            "packets": 1000, "bytes": 1_700_000, "partitions": 8, "rounds": 1, "seed": 7, "check_s": 6e5, "check_all_s": 1e6,
            "publish_s": 5e4, "check_us": 1.6, "publisher_us": 10.0, "stored_us": 25.0, "worker_over_check": 0.03,
            "workers": [{ "workers": 1, "packets_s": 2e4, "worker_us": 26.0, "server_us": 4.0, "sent_bytes": 1.1 }],
        },
        "lag": [{
            "load": 0.5, "packets_s": 1e4, "finding_ms": quantiles, "behind": quantiles, "worker_us": 30.0, "server_us": 25.0,
            "commits_s": 50.0, "checkpoints_s": 10.0, "checkpoint_bytes": 0.1,
        }],
        "recovery": {
            "kills": 2, "packets_s": 1500.0, "partitions": 4.0, "expiry_ms": quantiles, "replay_ms": quantiles, "all_ms": quantiles,
        },
        "memory": {
            "episodes": 1000, "packets": 4000, "packet_bytes": 6_000_000, "stored_bytes": 1.1, "resident": 9_000_000, "idle": 8_000_000,
            "checkpoint_bytes": 180_000,
        },
        "simulation": null,
    });
    let report: workers::Report = serde_json::from_value(figures.clone()).expect("a report");
    assert_eq!(serde_json::to_value(&report).expect("JSON"), figures);
    let table = report.to_string();
    for expected in
        ["one worker / omen check, one thread: 0.03", "50 %", "until its entry expires", "1000 open episodes"]
    {
        assert!(table.contains(expected), "{expected} in\n{table}");
    }
    // 10^5 packets a second, each 26 µs; 10^6 episodes, each 180 bytes.
    let costs = workers::costs(&report);
    assert!(costs.contains("| processors that judge | 10⁵ packets/s × 26.0 µs | 2.6 |"), "{costs}");
    assert!(costs.contains("| 10⁶ × 180 bytes | 0.18 GB |"), "{costs}");
}
