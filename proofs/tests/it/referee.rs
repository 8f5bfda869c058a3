use omen_proofs::referee::{Kind, Options, run};
use omen_testkit::proofs::Proofs;

#[test]
fn readers_and_json_schema_agree() {
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get() as u64);
    let (count, cut, replace) = Proofs::wanted().choose((5_000, 1, 1), (50_000, 4, 2));
    let options = Options { count, seed: 20_260_301, cut, replace, threads, ..Options::default() };
    let report = run(&options).expect("the schemas make a validator");
    println!("{report}");
    assert!(report.disagreements.is_empty(), "{report}");
    // A referee that sees only one verdict proves nothing.
    assert!(report.accepted * 10 > report.mutants(), "{report}");
    assert!(report.refused * 10 > report.mutants(), "{report}");
    // No beginning of a packet is a packet, and few replaced bytes leave one.
    assert!(report.cut.0 > 1_000 * cut && report.cut.1 == 0, "{report}");
    assert!(report.replaced.0 > 8_000 * replace && report.replaced.1 > 500 * replace, "{report}");
    for kind in Kind::ALL {
        assert!(report.kinds.get(kind).is_some_and(|(all, _)| *all > count / 500), "too few of: {kind}");
    }
}
