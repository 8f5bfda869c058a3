//! Tools and scopes: the types and their wire form.

use omen_invariants::facts::*;
use omen_invariants::{scope, tool};
use omen_types::{OperationType, ToolSafetyClass};

use super::holds;

tool!(pub(crate) CfgRead = "cfg.read", Read);
tool!(
    /// Writes the configuration.
    CfgWrite = "cfg.write",
    Write,
);
tool!(CfgSync = concat!("cfg", ".sync"), Mixed);
scope!(
    /// Good for a deployment.
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
    <Deploy as GrantsTool<CfgWrite>>::PROOF.hold();
    <Deploy as GrantsOp<op::Write>>::PROOF.hold();
}

tool!(pub(crate) Cache = "cache", Mixed);
scope!(Look: tools [Cache], operations [Read]);
scope!(LookAndSet: tools [Cache], operations [Read, Modify]);

#[test]
fn a_scope_that_only_reads_grants_no_writing() {
    assert!(!holds!(Look: GrantsWriting<op::Read>));
    assert!(holds!(LookAndSet: GrantsWriting<op::Read>) && holds!(Deploy: GrantsWriting<op::Read>));
    let lie = std::panic::catch_unwind(WritingListed::<Look, op::Read>::check);
    assert!(lie.is_err(), "the token would list no operation that writes");
    <LookAndSet as GrantsWriting<op::Read>>::PROOF.hold();
}

#[test]
fn a_proof_looks_at_the_wire_form() {
    let lie = std::panic::catch_unwind(ToolListed::<Deploy, CfgRead>::check);
    assert!(lie.is_err(), "the token would not list this tool");
    let lie = std::panic::catch_unwind(OperationListed::<Deploy, op::Delete>::check);
    assert!(lie.is_err(), "the token would not list this operation");
}
