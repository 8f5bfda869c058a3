use omen_proofs::referee::{Kind, Options, run};

#[test]
fn readers_and_json_schema_agree() {
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get() as u64);
    let options = Options { count: 50_000, seed: 20_260_301, cut: 4, replace: 2, threads, ..Options::default() };
    let report = run(&options).expect("the schemas make a validator");
    println!("{report}");
    assert!(report.disagreements.is_empty(), "{report}");
    // A referee that sees only one verdict proves nothing.
    assert!(report.accepted * 10 > report.mutants(), "{report}");
    assert!(report.refused * 10 > report.mutants(), "{report}");
    // No beginning of a packet is a packet, and few replaced bytes leave one.
    assert!(report.cut.0 > 4_000 && report.cut.1 == 0, "{report}");
    assert!(report.replaced.0 > 16_000 && report.replaced.1 > 1_000, "{report}");
    for kind in Kind::ALL {
        assert!(report.kinds.get(kind).is_some_and(|(all, _)| *all > 100), "too few of: {kind}");
    }
}
