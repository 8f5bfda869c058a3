//! Tools and token scopes as types (INV-007).

use omen_types::OperationType;

use super::listed::{First, Next, OperationListed, PlaceOrList, ToolListed, WritingListed};
use super::markers::{GrantsWriting, OperationTypeFact, ToolSafetyClassFact, op};

/// Tool with its identifier and its safety class, declared with [`tool!`](crate::tool).
pub trait Tool: Copy + Send + Sync + 'static {
    /// Identifier in packets (`tool_id`).
    const ID: &'static str;
    /// Possible effects on the world, such as [`ReadClass`](super::ReadClass). MIXED counts as WRITE (D17).
    type Class: ToolSafetyClassFact;
}

/// Scope of a token, declared with [`scope!`](crate::scope): tools and operations (INV-007).
///
/// The lists of the token are read from the types that declare the scope, so a grant cannot differ from its token.
pub trait Scope: ScopeTypes {
    /// Tools in packets (`tool_ids`); at least one.
    const TOOLS: &'static [&'static str];
    /// Operations in packets (`operation_types`); at least one.
    const OPERATIONS: &'static [OperationType];
}

/// Types with which [`scope!`](crate::scope) declares a scope.
#[diagnostic::on_unimplemented(
    message = "INV-007 (E4): `{Self}` is not a token scope",
    label = "not declared with `scope!`",
    note = "declare it: `scope!({Self}: tools [..], operations [..])`"
)]
pub trait ScopeTypes: Copy + Send + Sync + 'static {
    /// Tools as a list of types.
    type Tools: ToolList + list::NotEmpty;
    /// Operations as a list of types.
    type Operations: OperationList + list::NotEmpty;
}

#[diagnostic::do_not_recommend]
impl<S: ScopeTypes> Scope for S {
    const TOOLS: &'static [&'static str] = <S::Tools as ToolList>::IDS;
    const OPERATIONS: &'static [OperationType] = <S::Operations as OperationList>::VALUES;
}

/// Declares a tool: a type, its identifier on the wire, and its class, `Read`, `Write` or `Mixed`.
///
/// ```
/// use omen_invariants::facts::Tool;
///
/// omen_invariants::tool!(pub CfgRead = "cfg.read", Read);
/// assert_eq!(CfgRead::ID, "cfg.read");
/// ```
///
/// ```compile_fail,E0080
/// omen_invariants::tool!(pub Nameless = "", Read);
/// ```
#[macro_export]
macro_rules! tool {
    ($(#[$attribute:meta])* $visibility:vis $tool:ident = $id:expr, $class:ident $(,)?) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        $visibility struct $tool;

        impl $crate::facts::Tool for $tool {
            const ID: &'static str = $id;
            type Class = $crate::__class!($class);
        }
        $crate::__class!(check $class);

        const _: () = ::core::assert!(
            $crate::facts::__types::scalar::invisible::is_visible(<$tool as $crate::facts::Tool>::ID),
            "INV-007: the identifier of a tool is empty or blank, so no token can list it"
        );
    };
}

/// Declares the scope of a token: a type, its tools, and which of the operations `Read`, `Write`, `Delete` and
/// `Modify` it allows.
///
/// ```
/// use omen_invariants::{facts::Scope, scope, tool};
///
/// tool!(pub CfgWrite = "cfg.write", Write);
/// scope!(pub Deploy: tools [CfgWrite], operations [Write, Modify]);
/// assert_eq!(Deploy::TOOLS, ["cfg.write"]);
/// assert_eq!(Deploy::OPERATIONS.len(), 2);
/// ```
///
/// ```compile_fail,E0080
/// use omen_invariants::{scope, tool};
///
/// tool!(pub Put = "kv.put", Write);
/// tool!(pub Twin = "kv.put", Read);
/// scope!(pub Both: tools [Put, Twin], operations [Write]);
/// ```
#[macro_export]
macro_rules! scope {
    (
        $(#[$attribute:meta])* $visibility:vis $scope:ident:
        tools [$($tool:path),+ $(,)?], operations [$($operation:ident),+ $(,)?] $(,)?
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        $visibility struct $scope;

        impl $crate::facts::ScopeTypes for $scope {
            type Tools = $crate::scope!(@list $($tool),+);
            type Operations = $crate::scope!(@list $($crate::facts::op::$operation),+);
        }

        const _: () = ::core::assert!(
            $crate::facts::__are_distinct(<$scope as $crate::facts::Scope>::TOOLS),
            "INV-007: two tools of this scope have the same identifier; declare each tool once, with one class"
        );

        $crate::scope!(@tools $scope, $crate::facts::__places::First, $($tool),+);
        $crate::scope!(@operations $scope, $crate::facts::__places::First, $($operation)+);
        $crate::scope!(@writing $scope, $crate::facts::__places::First, $($operation)+);
    };
    (@list $first:path $(, $rest:path)*) => { ($first, $crate::scope!(@list $($rest),*)) };
    (@list) => { () };
    (@tools $scope:ident, $place:ty, $tool:path $(, $rest:path)*) => {
        #[diagnostic::do_not_recommend]
        impl $crate::facts::GrantsTool<$tool> for $scope {
            type Proof = $place;
        }
        $crate::scope!(@tools $scope, $crate::facts::__places::Next<$place> $(, $rest)*);
    };
    (@tools $scope:ident, $place:ty) => {};
    (@operations $scope:ident, $place:ty, $operation:ident $($rest:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl $crate::facts::GrantsOp<$crate::facts::op::$operation> for $scope {
            type Proof = $place;
        }
        $crate::scope!(@operations $scope, $crate::facts::__places::Next<$place>, $($rest)*);
    };
    (@operations $scope:ident, $place:ty,) => {};
    // The first operation that writes proves that the scope allows writing.
    (@writing $scope:ident, $place:ty, Read $($rest:ident)*) => {
        $crate::scope!(@writing $scope, $crate::facts::__places::Next<$place>, $($rest)*);
    };
    (@writing $scope:ident, $place:ty,) => {};
    (@writing $scope:ident, $place:ty, $writes:ident $($rest:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl $crate::facts::GrantsWriting<$crate::facts::op::Read> for $scope {
            type Proof = $place;
        }
    };
    ($(#[$attribute:meta])* $visibility:vis $scope:ident: tools [] $($rest:tt)*) => {
        ::core::compile_error!("INV-007 (E4): a token scope lists at least one tool");
    };
    ($(#[$attribute:meta])* $visibility:vis $scope:ident: tools $tools:tt, operations [] $(,)?) => {
        ::core::compile_error!("INV-007 (E4): a token scope lists at least one operation");
    };
}

/// Private lists and proofs, which no other crate can name.
mod list {
    use super::super::listed::{First, Next};

    /// Non-empty list.
    #[diagnostic::on_unimplemented(
        message = "INV-007 (E4): a token scope lists at least one tool and one operation",
        label = "nothing is listed here",
        note = "declare the scope with `scope!(Name: tools [..], operations [..])`"
    )]
    pub trait NotEmpty {}
    impl<Head, Rest> NotEmpty for (Head, Rest) {}

    /// List with `Item` at `Place`.
    pub trait Has<Item, Place> {}
    impl<Item, Rest> Has<Item, First> for (Item, Rest) {}
    impl<Item, Head, Rest: Has<Item, Place>, Place> Has<Item, Next<Place>> for (Head, Rest) {}

    /// List with an operation that writes at `Place`.
    pub trait HasWriting<Place> {}
    impl<Head: super::Writes, Rest> HasWriting<First> for (Head, Rest) {}
    impl<Head, Rest: HasWriting<Place>, Place> HasWriting<Next<Place>> for (Head, Rest) {}

    /// Operation that writes.
    pub trait Writing {}
}
use list::{Has, HasWriting, Writing as Writes};

/// Maximum number of tools in a scope.
const MOST_TOOLS: usize = 256;
/// Maximum number of operations in a scope; there are fewer operations in total.
const MOST_OPERATIONS: usize = 16;

/// List of tools: `(First, (Second, ()))`.
pub trait ToolList: PlaceOrList {
    /// Number of tools.
    const LENGTH: usize;
    /// Identifiers of the tools, padded with empty texts.
    const ALL: [&'static str; MOST_TOOLS];
    /// Identifiers of the tools.
    const IDS: &'static [&'static str] = (&Self::ALL as &[&'static str]).split_at(Self::LENGTH).0;
}

impl ToolList for () {
    const LENGTH: usize = 0;
    const ALL: [&'static str; MOST_TOOLS] = [""; MOST_TOOLS];
}

impl<Head: Tool, Rest: ToolList> ToolList for (Head, Rest) {
    const LENGTH: usize = Rest::LENGTH + 1;
    const ALL: [&'static str; MOST_TOOLS] = pushed(Rest::ALL, Head::ID);
}

/// List of operations: `(First, (Second, ()))`.
pub trait OperationList: PlaceOrList {
    /// Number of operations.
    const LENGTH: usize;
    /// Values of the operations, with arbitrary padding.
    const ALL: [OperationType; MOST_OPERATIONS];
    /// Values of the operations.
    const VALUES: &'static [OperationType] = (&Self::ALL as &[OperationType]).split_at(Self::LENGTH).0;
}

impl OperationList for () {
    const LENGTH: usize = 0;
    const ALL: [OperationType; MOST_OPERATIONS] = [OperationType::Read; MOST_OPERATIONS];
}

impl<Head: OperationTypeFact, Rest: OperationList> OperationList for (Head, Rest) {
    const LENGTH: usize = Rest::LENGTH + 1;
    const ALL: [OperationType; MOST_OPERATIONS] = pushed(Rest::ALL, Head::VALUE);
}

/// Returns whether all identifiers are distinct.
#[doc(hidden)]
#[must_use]
pub const fn __are_distinct(ids: &[&str]) -> bool {
    let mut rest = ids;
    while let [first, others @ ..] = rest {
        let mut later = others;
        while let [other, after @ ..] = later {
            if are_equal(first.as_bytes(), other.as_bytes()) {
                return false;
            }
            later = after;
        }
        rest = others;
    }
    true
}

/// Returns whether two texts are equal; `==` is not available in a `const fn`.
const fn are_equal(mut one: &[u8], mut other: &[u8]) -> bool {
    while let ([a, rest_of_one @ ..], [b, rest_of_other @ ..]) = (one, other) {
        if *a != *b {
            return false;
        }
        (one, other) = (rest_of_one, rest_of_other);
    }
    one.is_empty() && other.is_empty()
}

/// Prepends an element and drops the last one, which is padding; otherwise, `split_at` fails at compile time.
const fn pushed<T: Copy, const N: usize>(elements: [T; N], first: T) -> [T; N] {
    let mut all = [first; N];
    let (_, mut to) = all.split_at_mut(1);
    let mut from: &[T] = &elements;
    while let ([element, from_rest @ ..], [place, to_rest @ ..]) = (from, to) {
        *place = *element;
        (from, to) = (from_rest, to_rest);
    }
    all
}

// A scope lists an item only if its list has the item at the given position.
#[diagnostic::do_not_recommend]
impl<S: ScopeTypes<Tools: Has<T, First>>, T> ToolListed<S, T> for First {}
#[diagnostic::do_not_recommend]
impl<S: ScopeTypes<Tools: Has<T, Next<Place>>>, T, Place> ToolListed<S, T> for Next<Place> {}

#[diagnostic::do_not_recommend]
impl<S: ScopeTypes<Operations: Has<O, First>>, O> OperationListed<S, O> for First {}
#[diagnostic::do_not_recommend]
impl<S: ScopeTypes<Operations: Has<O, Next<Place>>>, O, Place> OperationListed<S, O> for Next<Place> {}

#[diagnostic::do_not_recommend]
impl<S: ScopeTypes<Operations: HasWriting<First>>> WritingListed<S, op::Read> for First {}
#[diagnostic::do_not_recommend]
impl<S: ScopeTypes<Operations: HasWriting<Next<Place>>>, Place> WritingListed<S, op::Read> for Next<Place> {}
#[diagnostic::do_not_recommend]
impl<S, O: Writes> WritingListed<S, O> for () {}

macro_rules! writing {
    ($($operation:ident),*) => {
        $(
            impl list::Writing for op::$operation {}

            #[diagnostic::do_not_recommend]
            impl<S: Scope> GrantsWriting<op::$operation> for S {
                type Proof = ();
            }
        )*
    };
}
writing!(Write, Modify, Delete);
