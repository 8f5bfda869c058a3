//! `cargo xtask expand` prints what the build scripts write.

use omen_pages::expand::{Options, Part, command};

#[test]
fn each_part_is_printed() {
    let types = printed(Some(Part::Types));
    let codes = printed(Some(Part::Codes));
    let gate = printed(Some(Part::Gate));
    let facts = printed(Some(Part::Facts));
    let fsm = printed(Some(Part::Fsm));
    let episode = printed(Some(Part::Episode));
    assert!(types.contains("pub struct DecisionPayload {") && types.contains("pub struct DecisionPayloadFacts<'t> {"));
    assert!(codes.contains("pub enum Code {"));
    assert!(facts.contains("pub struct HighStakes;") && facts.contains("pub trait TierMayAct: sealed::FactSealed {}"));
    assert!(fsm.contains("pub enum Event {") && facts.contains("pub enum Obligation {"));
    assert!(episode.contains("impl Episode<Authorize> {") && episode.contains("pub trait ActHereE1<S>: Sized {"));
    // The output of typify is in the types already, so that it is printed only by its name.
    assert!(printed(Some(Part::Typify)).contains("pub struct DecisionPayload {"));
    assert_eq!(printed(None), types + &codes + &gate + &facts + &fsm + &episode);
}

fn printed(part: Option<Part>) -> String {
    let mut out = Vec::new();
    command(&Options { part }, &mut out).expect("the schema files have no mistake");
    String::from_utf8(out).expect("generated code is UTF-8")
}
