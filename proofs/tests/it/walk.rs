use omen_proofs::walk::{Options, run};
use omen_testkit::proofs::Proofs;

#[test]
fn what_compiles_validates_and_resumes() {
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get() as u64);
    let (count, made, ended, refused) = Proofs::wanted().choose((2_500, 5, 10, 0), (20_000, 50, 100, 5));
    let options = Options { count, seed: 20_261_122, from: 0, resume_every: 20, threads };
    let report = run(&options).expect("the envelopes are sound");
    println!("{report}");
    assert!(report.faults.is_empty(), "{report}");
    // A walk that misses an event proves nothing.
    for event in omen_fsm::Event::ALL.iter().filter(|event| event.packet_type().is_some()) {
        let count = report.made.get(event.as_str()).copied().unwrap_or_default();
        // The table has no row for queue updates (D16).
        assert_eq!(count > made, *event != omen_fsm::Event::Enqueue, "{event}: {count}");
    }
    for accident in ["dropped", "panic", "future cancelled", "tool panics", "tool cancelled"] {
        for policy in ["Cancel", "Halt", "Escalate"] {
            let count = report.accidents.get(&format!("{accident}, {policy}")).copied().unwrap_or_default();
            assert!(count > ended, "{accident}, {policy}: {count}");
        }
    }
    for code in
        ["E1", "E2", "E3", "E4", "E6", "E7", "FSM", "SCHEMA", "INV-002", "INV-003", "INV-005", "INV-006", "INV-010"]
    {
        assert!(
            report.refused.iter().any(|(known, count)| known.as_str() == code && *count > refused),
            "too few of {code}"
        );
    }
}
