//! Tools and scopes: the types and their wire form.

use omen_invariants::facts::__places::{First, Next};
use omen_invariants::facts::*;
use omen_invariants::{scope, tool};
use omen_types::{OperationType, ToolSafetyClass};

use super::holds;

tool!(pub(crate) CfgRead = "cfg.read", Read);
tool!(
    /// Tool that writes the configuration.
    pub(crate) CfgWrite = "cfg.write",
    Write,
);
tool!(pub(crate) CfgSync = concat!("cfg", ".sync"), Mixed);
scope!(
    /// Scope of a deployment.
    pub(crate) Deploy: tools [CfgWrite, self::CfgSync], operations [Write, Modify]
);

#[test]
fn a_tool_has_identifier_and_class() {
    assert_eq!([CfgRead::ID, CfgWrite::ID, CfgSync::ID], ["cfg.read", "cfg.write", "cfg.sync"]);
    fn class<T: Tool>(_: T) -> ToolSafetyClass {
        T::Class::VALUE
    }
    assert_eq!(class(CfgRead), ToolSafetyClass::Read);
    assert_eq!(class(CfgWrite), ToolSafetyClass::Write);
    assert_eq!(class(CfgSync), ToolSafetyClass::Mixed);
}

#[test]
fn a_scope_grants_what_its_wire_form_lists() {
    assert_eq!(Deploy::TOOLS, ["cfg.write", "cfg.sync"]);
    assert_eq!(Deploy::OPERATIONS, [OperationType::Write, OperationType::Modify]);
    assert!(holds!(Deploy: GrantsTool<CfgWrite>) && holds!(Deploy: GrantsTool<CfgSync>));
    assert!(!holds!(Deploy: GrantsTool<CfgRead>));
    assert!(holds!(Deploy: GrantsOp<op::Write>) && holds!(Deploy: GrantsOp<op::Modify>));
    assert!(!holds!(Deploy: GrantsOp<op::Read>) && !holds!(Deploy: GrantsOp<op::Delete>));
}

tool!(pub(crate) Cache = "cache", Mixed);
scope!(Look: tools [Cache], operations [Read]);
scope!(LookAndSet: tools [Cache], operations [Read, Modify]);

#[test]
fn a_scope_that_only_reads_grants_no_writing() {
    assert!(!holds!(Look: GrantsWriting<op::Read>));
    assert!(holds!(LookAndSet: GrantsWriting<op::Read>) && holds!(Deploy: GrantsWriting<op::Read>));
    assert!(!holds!(First: WritingListed<Look, op::Read>), "the token would list no operation that writes");
    assert!(!holds!((): WritingListed<Look, op::Read>) && !holds!(Next<First>: WritingListed<Look, op::Read>));
    assert!(!holds!(First: WritingListed<LookAndSet, op::Read>), "what stands first reads");
    assert!(holds!(Next<First>: WritingListed<LookAndSet, op::Read>));
}

#[test]
fn a_proof_names_the_place_in_the_wire_form() {
    assert!(holds!(First: ToolListed<Deploy, CfgWrite>) && holds!(Next<First>: ToolListed<Deploy, CfgSync>));
    assert!(!holds!(First: ToolListed<Deploy, CfgSync>) && !holds!(Next<First>: ToolListed<Deploy, CfgWrite>));
    assert!(!holds!(First: ToolListed<Deploy, CfgRead>), "the token would not list this tool");
    assert!(!holds!(Next<Next<First>>: ToolListed<Deploy, CfgWrite>), "nothing stands there");
    assert!(!holds!(First: OperationListed<Deploy, op::Delete>), "the token would not list this operation");
    assert!(holds!(Next<First>: OperationListed<Deploy, op::Modify>));
}

/// A hand-written scope over any tool: its grants are true, so they type-check.
#[derive(Clone, Copy)]
struct Only<T>(std::marker::PhantomData<T>);
impl<T: Tool> ScopeTypes for Only<T> {
    type Tools = (T, ());
    type Operations = (op::Delete, ());
}
impl<T: Tool> GrantsTool<T> for Only<T> {
    type Proof = First;
}

#[test]
fn what_a_generic_scope_grants_its_token_lists() {
    assert_eq!((Only::<CfgSync>::TOOLS, Only::<CfgRead>::TOOLS), (&["cfg.sync"] as &[_], &["cfg.read"] as &[_]));
    assert_eq!(Only::<CfgSync>::OPERATIONS, [OperationType::Delete]);
    assert!(holds!(Only<CfgSync>: GrantsTool<CfgSync>) && !holds!(Only<CfgSync>: GrantsTool<CfgRead>));
}
