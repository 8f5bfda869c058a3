//! The output is the same for every order of the input files. By default, a fifth of the rotations are tried, otherwise
//! all.

use omen_codegen::emit::{self, Lens, Markers};
use omen_testkit::proofs::Proofs;

#[test]
fn the_order_of_files_does_not_matter() {
    let files = omen_schema::FILES;
    let as_listed = generate(files.iter());
    assert_eq!(generate(files.iter()), as_listed, "the same again");
    assert_eq!(generate(files.iter().rev()), as_listed, "in reverse");
    for start in (1..files.len()).step_by(Proofs::wanted().choose(5, 1)) {
        let (front, back) = files.split_at(start);
        // Every other file first, with a different start each time.
        let (even, odd): (Vec<_>, Vec<_>) = back.iter().chain(front).enumerate().partition(|(i, _)| i % 2 == 0);
        let shuffled = odd.into_iter().chain(even).map(|(_, file)| file);
        assert_eq!(generate(shuffled), as_listed, "shuffled from {start}");
    }
}

/// Generates everything that the build scripts generate.
fn generate<'f>(files: impl Iterator<Item = &'f (&'static str, &'static str)>) -> [String; 6] {
    let model = omen_codegen::model(files.copied()).unwrap();
    let lens = Lens::parse(LENS).unwrap();
    let markers = Markers::parse(MARKERS).unwrap();
    [
        emit::types(&model, &lens),
        emit::codes(&model),
        emit::markers(&model, &markers),
        emit::predicates(&model, &markers),
        emit::fsm(&model),
        emit::gate(&model),
    ]
    .map(|source| source.unwrap().to_string())
}

const LENS: &str = include_str!("../../../omen-types/lens.json");
const MARKERS: &str = include_str!("../../../omen-invariants/facts.json");
