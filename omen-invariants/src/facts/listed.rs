//! Proof that a scope lists a tool or an operation: the place where it stands.

use std::marker::PhantomData;

// A grant has to name the place of its tool or operation in the scope's own list, and rustc compares the types. So a
// grant that is written by hand is true or does not type-check, even if it is generic. Nothing is left for code
// generation, which `cargo check` does not reach.

/// The first place of a list.
#[derive(Debug)]
pub enum First {}

/// The place after another.
#[derive(Debug)]
pub struct Next<Place>(PhantomData<fn(Place) -> Place>);

/// Places, and lists of types.
#[diagnostic::on_unimplemented(
    message = "INV-007 (E4): `{Self}` is neither a place in a list of tools or operations nor such a list",
    label = "not a type of `scope!`",
    note = "declare the scope with `scope!(Name: tools [..], operations [..])`, which writes its lists and grants"
)]
pub trait PlaceOrList {}
impl PlaceOrList for First {}
impl<Place> PlaceOrList for Next<Place> {}
impl PlaceOrList for () {}
impl<Head, Rest> PlaceOrList for (Head, Rest) {}

/// Proof that a scope `S` lists the tool `T`: the place where it stands.
#[diagnostic::on_unimplemented(
    message = "INV-007 (E4): the scope `{S}` does not list `{T}` at that place",
    label = "the token would not list this grant",
    note = "`scope!` writes the grants: list the tool there"
)]
pub trait ToolListed<S, T>: PlaceOrList {}

/// Proof that a scope `S` lists the operation `O`: the place where it stands.
#[diagnostic::on_unimplemented(
    message = "INV-007 (E4): the scope `{S}` does not list `{O}` at that place",
    label = "the token would not list this grant",
    note = "`scope!` writes the grants: list the operation there"
)]
pub trait OperationListed<S, O>: PlaceOrList {}

/// Proof that a scope `S` lists an operation that writes, as a directive for `O` to a tool that may write needs (D26):
/// the place where it stands. If `O` writes itself, the proof is empty, since another one shows that `O` is listed.
#[diagnostic::on_unimplemented(
    message = "INV-007 (E4): the scope `{S}` does not list an operation that writes at that place",
    label = "the token would not list this grant",
    note = "`scope!` writes the grants: list `Write`, `Modify` or `Delete` there"
)]
pub trait WritingListed<S, O>: PlaceOrList {}
