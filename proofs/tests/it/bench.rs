use omen::{Finding, Summary, Validator};
use omen_proofs::bench::corpus::Corpus;
use omen_proofs::bench::episode;
use omen_proofs::bench::gate::{self, Counts};

const EPISODES: u64 = 200;

#[test]
fn a_seed_makes_the_same_corpus_everywhere() {
    let corpus = Corpus::generate(7, EPISODES, false);
    assert_eq!(corpus.bytes, Corpus::generate(7, EPISODES, false).bytes);
    assert_ne!(corpus.bytes, Corpus::generate(8, EPISODES, false).bytes);
    // A change of the generator changes the results of the benchmark, and this hash.
    assert_eq!(fnv(&corpus.bytes), 8_886_812_887_379_076_344, "hash of the corpus");
}

#[test]
fn the_corpus_is_judged_clean_in_any_order_of_members() {
    let (corpus, shuffled) = (Corpus::generate(7, EPISODES, false), Corpus::generate(7, EPISODES, true));
    assert_ne!(corpus.bytes, shuffled.bytes);
    let (plain, other) = (judge(&corpus), judge(&shuffled));
    assert_eq!((plain.packets, plain.episodes, plain.errors), (corpus.packets, EPISODES, 0));
    assert_eq!(plain, other, "the order of members does not matter");
    assert!(plain.warnings * 100 <= plain.packets, "{plain:?}");
    let size = plain.bytes / plain.packets;
    assert!((1000..4000).contains(&size), "packets of {size} bytes");
}

#[test]
fn shuffled_packets_are_the_same_values() {
    let (corpus, shuffled) = (Corpus::generate(3, 20, false), Corpus::generate(3, 20, true));
    assert_eq!(values(&corpus), values(&shuffled));
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
    let numbers: Vec<_> = json.as_object().expect("an object").iter().filter(|(name, _)| *name != "steps").collect();
    for (name, value) in &numbers {
        assert!(value.as_f64().is_some_and(|number| number > 0.0), "{name}: {value}");
    }
    assert_eq!(report.steps.iter().map(|cost| cost.step).collect::<Vec<_>>().join(" "), WAY);
    assert!(report.steps.iter().all(|cost| cost.us > 0.0), "{report}");
    let table = report.to_string();
    assert!(table.contains("µs") && table.contains("a second") && table.contains("sync_data"), "{table}");
}

#[test]
fn the_typed_api_is_measured_in_all_its_parts() {
    let counts = episode::Counts { rounds: 2, episodes: 3, leases: 50 };
    let report = episode::run(&counts).expect("every episode ends");
    let json = serde_json::to_value(&report).expect("JSON");
    for (name, value) in json.as_object().expect("an object") {
        assert!(value.as_f64().is_some_and(|number| number > 0.0), "{name}: {value}");
    }
    let table = report.to_string();
    assert!(table.contains("typed / judged") && table.contains("a lease"), "{table}");
}

/// The steps of a request to the gate.
const WAY: &str = "screen plan conform authorize dispatch type_output ground";
