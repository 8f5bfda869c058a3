//! Proof that a scope lists a tool or an operation: the place where it stands.

use std::marker::PhantomData;

// A grant has to say at which place of the scope's own list its tool or operation stands, and rustc compares the types.
// So whoever writes a grant by hand writes a true one or one that does not type-check, also where it is generic; nothing
// is left for the time when code is generated, which `cargo check` does not reach.

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
    label = "a grant that the token would not list",
    note = "`scope!` writes the grants: list the tool there"
)]
pub trait ToolListed<S, T>: PlaceOrList {}

/// Proof that a scope `S` lists the operation `O`: the place where it stands.
#[diagnostic::on_unimplemented(
    message = "INV-007 (E4): the scope `{S}` does not list `{O}` at that place",
    label = "a grant that the token would not list",
    note = "`scope!` writes the grants: list the operation there"
)]
pub trait OperationListed<S, O>: PlaceOrList {}

/// Proof that a scope `S` lists an operation that writes, as a directive for `O` to a tool that may write needs (D26):
/// the place where it stands; nothing where `O` writes itself, for whether `O` is listed, another proof says.
#[diagnostic::on_unimplemented(
    message = "INV-007 (E4): the scope `{S}` does not list an operation that writes at that place",
    label = "a grant that the token would not list",
    note = "`scope!` writes the grants: list `Write`, `Modify` or `Delete` there"
)]
pub trait WritingListed<S, O>: PlaceOrList {}
