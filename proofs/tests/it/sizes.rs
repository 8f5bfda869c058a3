//! `OMEN_PROOFS` says how much tests try.

use omen_testkit::proofs::Proofs;

#[test]
fn a_value_that_is_unknown_is_an_error() {
    assert_eq!(Proofs::parse(""), Ok(Proofs::Usual));
    assert_eq!(Proofs::parse("full"), Ok(Proofs::Full));
    for unknown in ["Full", "all", "1", "full "] {
        let error = Proofs::parse(unknown).expect_err("it is unknown");
        assert_eq!(error, format!("unknown value `{unknown}`; expected `full` or nothing"));
    }
}

#[test]
fn a_size_is_chosen() {
    assert_eq!((Proofs::Usual.choose(1, 2), Proofs::Full.choose(1, 2)), (1, 2));
}
