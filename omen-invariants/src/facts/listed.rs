//! Proof that a scope lists a tool or an operation: its position in the list.

use std::marker::PhantomData;

// A grant must name the position of its tool or operation in the scope's own list, and rustc compares the types. So a
// hand-written grant, even a generic one, is either true or does not type-check. The check does not depend on code
// generation, which `cargo check` skips.

/// First position in a list.
#[derive(Debug)]
pub enum First {}

/// Position that follows another one.
#[derive(Debug)]
pub struct Next<Place>(PhantomData<fn(Place) -> Place>);

/// Position in a list, or list of types.
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

/// Proof that a scope `S` lists the tool `T`, given as its position.
#[diagnostic::on_unimplemented(
    message = "INV-007 (E4): the scope `{S}` does not list `{T}` at that place",
    label = "the token would not list this grant",
    note = "`scope!` writes the grants: list the tool there"
)]
pub trait ToolListed<S, T>: PlaceOrList {}

/// Proof that a scope `S` lists the operation `O`, given as its position.
#[diagnostic::on_unimplemented(
    message = "INV-007 (E4): the scope `{S}` does not list `{O}` at that place",
    label = "the token would not list this grant",
    note = "`scope!` writes the grants: list the operation there"
)]
pub trait OperationListed<S, O>: PlaceOrList {}

/// Proof that a scope `S` lists an operation that writes, given as its position; required of a directive for `O` to a
/// tool that may write (D26). If `O` itself writes, the proof is empty, because another proof shows that `O` is listed.
#[diagnostic::on_unimplemented(
    message = "INV-007 (E4): the scope `{S}` does not list an operation that writes at that place",
    label = "the token would not list this grant",
    note = "`scope!` writes the grants: list `Write`, `Modify` or `Delete` there"
)]
pub trait WritingListed<S, O>: PlaceOrList {}
