use omen::{Finding, Summary, Validator};
use xtask::bench::corpus::Corpus;

const EPISODES: u64 = 200;

#[test]
fn a_seed_makes_the_same_corpus_everywhere() {
    let corpus = Corpus::generate(7, EPISODES, false);
    assert_eq!(corpus.bytes, Corpus::generate(7, EPISODES, false).bytes);
    assert_ne!(corpus.bytes, Corpus::generate(8, EPISODES, false).bytes);
    // A change of the generator makes new numbers of the benchmark: then this changes, too.
    assert_eq!(fnv(&corpus.bytes), 6_703_141_104_474_056_009, "hash of the corpus");
}

#[test]
fn the_corpus_is_judged_clean_in_any_order_of_members() {
    let (corpus, shuffled) = (Corpus::generate(7, EPISODES, false), Corpus::generate(7, EPISODES, true));
    assert_ne!(corpus.bytes, shuffled.bytes);
    let (plain, other) = (judge(&corpus), judge(&shuffled));
    assert_eq!((plain.packets, plain.episodes, plain.errors), (corpus.packets, EPISODES, 0));
    assert_eq!(plain, other, "the order of members is no matter");
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
    let mut validator = Validator::new(omen::Options::default());
    validator.feed(&corpus.bytes, &mut findings);
    let summary = validator.finish(&mut findings);
    assert_eq!(summary.errors, 0, "{:#?}", findings.first());
    summary
}

fn values(corpus: &Corpus) -> Vec<serde_json::Value> {
    serde_json::Deserializer::from_slice(&corpus.bytes).into_iter().map(|value| value.expect("JSON")).collect()
}

/// FNV-1a: fixed for all time, unlike the hashers of the standard library.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
