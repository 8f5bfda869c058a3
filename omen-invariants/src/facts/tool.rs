//! Tools and token scopes as types (INV-007).

use std::marker::PhantomData;

use omen_types::OperationType;

use super::{GrantsWriting, OperationTypeFact, ToolSafetyClassFact, op};

/// A tool, declared with [`tool!`](crate::tool): its identifier and its safety class.
pub trait Tool: Copy + Send + Sync + 'static {
    /// The identifier on the wire, `tool_id`.
    const ID: &'static str;
    /// What it may do to the world, such as [`ReadClass`](super::ReadClass). MIXED counts as WRITE (D17).
    type Class: ToolSafetyClassFact;
}

/// What a token is good for, declared with [`scope!`](crate::scope): tools and operations (INV-007).
pub trait Scope: Copy + Send + Sync + 'static {
    /// The tools on the wire, `tool_ids`; at least one.
    const TOOLS: &'static [&'static str];
    /// The operations on the wire, `operation_types`; at least one.
    const OPERATIONS: &'static [OperationType];
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
            type Class = $crate::facts::class::$class;
        }

        const _: () = ::core::assert!(
            !<$tool as $crate::facts::Tool>::ID.is_empty(),
            "INV-007: a tool needs an identifier, which tokens can list"
        );
    };
}

/// Declares what a token is good for: a type, its tools, and the operations `Read`, `Write`, `Delete`
/// and `Modify` that it allows.
///
/// ```
/// use omen_invariants::{facts::Scope, scope, tool};
///
/// tool!(pub CfgWrite = "cfg.write", Write);
/// scope!(pub Deploy: tools [CfgWrite], operations [Write, Modify]);
/// assert_eq!(Deploy::TOOLS, ["cfg.write"]);
/// assert_eq!(Deploy::OPERATIONS.len(), 2);
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

        impl $crate::facts::Scope for $scope {
            const TOOLS: &'static [&'static str] = &[$(<$tool as $crate::facts::Tool>::ID),+];
            const OPERATIONS: &'static [$crate::facts::OperationType] =
                &[$(<$crate::facts::op::$operation as $crate::facts::OperationTypeFact>::VALUE),+];
        }

        $(
            #[diagnostic::do_not_recommend]
            impl $crate::facts::GrantsTool<$tool> for $scope {
                const PROOF: $crate::facts::ToolListed<Self, $tool> = $crate::facts::ToolListed::check();
            }
        )+

        $(
            #[diagnostic::do_not_recommend]
            impl $crate::facts::GrantsOp<$crate::facts::op::$operation> for $scope {
                const PROOF: $crate::facts::OperationListed<Self, $crate::facts::op::$operation> =
                    $crate::facts::OperationListed::check();
            }
        )+

        $crate::scope!(@writing $scope $($operation)+);
    };
    (@writing $scope:ident Read $($rest:ident)*) => { $crate::scope!(@writing $scope $($rest)*); };
    (@writing $scope:ident) => {};
    (@writing $scope:ident $writes:ident $($rest:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl $crate::facts::GrantsWriting<$crate::facts::op::Read> for $scope {
            const PROOF: $crate::facts::WritingListed<Self, $crate::facts::op::Read> =
                $crate::facts::WritingListed::check();
        }
    };
    ($(#[$attribute:meta])* $visibility:vis $scope:ident: tools [] $($rest:tt)*) => {
        ::core::compile_error!("INV-007 (E4): a token scope lists at least one tool");
    };
    ($(#[$attribute:meta])* $visibility:vis $scope:ident: tools $tools:tt, operations [] $(,)?) => {
        ::core::compile_error!("INV-007 (E4): a token scope lists at least one operation");
    };
}

/// Proof that the wire form of a scope lists a tool. There is no other way to make one than
/// [`check`](Self::check), so that nobody grants by hand what the token does not say.
#[derive(Debug)]
pub struct ToolListed<S, T>(PhantomData<fn() -> (S, T)>);

impl<S: Scope, T: Tool> ToolListed<S, T> {
    /// Looks the tool up, at compile time.
    #[must_use]
    pub const fn check() -> Self {
        assert!(lists(S::TOOLS, T::ID), "INV-007 (E4): this scope grants a tool that its token would not list");
        Self(PhantomData)
    }
}

impl<S, T> ToolListed<S, T> {
    /// Whoever relies on a grant calls this: the compiler then evaluates the proof.
    pub const fn hold(&self) {}
}

/// Proof that the wire form of a scope lists an operation; see [`ToolListed`].
#[derive(Debug)]
pub struct OperationListed<S, O>(PhantomData<fn() -> (S, O)>);

impl<S: Scope, O: OperationTypeFact> OperationListed<S, O> {
    /// Looks the operation up, at compile time.
    #[must_use]
    pub const fn check() -> Self {
        assert!(
            allows(S::OPERATIONS, O::VALUE),
            "INV-007 (E4): this scope grants an operation that its token would not list"
        );
        Self(PhantomData)
    }
}

impl<S, O> OperationListed<S, O> {
    /// Whoever relies on a grant calls this: the compiler then evaluates the proof.
    pub const fn hold(&self) {}
}

/// Proof that the wire form of a scope lists an operation that writes, as a directive for `O` to a tool that may write
/// needs (D26); see [`ToolListed`].
#[derive(Debug)]
pub struct WritingListed<S, O>(PhantomData<fn() -> (S, O)>);

impl<S: Scope, O: OperationTypeFact> WritingListed<S, O> {
    /// Looks for one, at compile time.
    #[must_use]
    pub const fn check() -> Self {
        // Whether an operation that writes is listed itself, another proof says.
        let writes = allows(S::OPERATIONS, OperationType::Write)
            || allows(S::OPERATIONS, OperationType::Modify)
            || allows(S::OPERATIONS, OperationType::Delete);
        assert!(
            writes || O::VALUE as u8 != OperationType::Read as u8,
            "INV-007 (E4): this scope grants writing, and its token would list no operation that writes"
        );
        Self(PhantomData)
    }
}

impl<S, O> WritingListed<S, O> {
    /// Whoever relies on a grant calls this: the compiler then evaluates the proof.
    pub const fn hold(&self) {}
}

macro_rules! writing {
    ($($operation:ident),*) => {
        $(
            #[diagnostic::do_not_recommend]
            impl<S: Scope> GrantsWriting<op::$operation> for S {
                const PROOF: WritingListed<Self, op::$operation> = WritingListed::check();
            }
        )*
    };
}
writing!(Write, Modify, Delete);

const fn lists(mut tools: &[&str], tool: &str) -> bool {
    while let [first, rest @ ..] = tools {
        if equal(first.as_bytes(), tool.as_bytes()) {
            return true;
        }
        tools = rest;
    }
    false
}

const fn allows(mut operations: &[OperationType], operation: OperationType) -> bool {
    while let [first, rest @ ..] = operations {
        if *first as u8 == operation as u8 {
            return true;
        }
        operations = rest;
    }
    false
}

/// `==` is not const yet.
const fn equal(mut left: &[u8], mut right: &[u8]) -> bool {
    while let ([a, left_rest @ ..], [b, right_rest @ ..]) = (left, right) {
        if *a != *b {
            return false;
        }
        (left, right) = (left_rest, right_rest);
    }
    left.is_empty() && right.is_empty()
}
