//! Parameters of moves: the contents of packets, and the proofs that rules require.

mod alert;
mod arbitration;
mod belief;
mod decision_payload;
mod directive;
mod escalation;
mod fields;
mod finite;
mod inquiry;
mod json;
mod layer1;
mod named;
mod observation;
mod plan;
#[allow(clippy::clone_on_copy, reason = "the types of the fields depend on the schemas")]
mod setters;
mod task;
mod token;

pub(crate) use alert::info as info_alert;
pub use alert::{Alarm, Alert, Clearance};
pub use arbitration::{
    ActOrder, Arbitration, Candidate, Chosen, Feasible, NothingLeft, Proposed, Ruling, Tradeoff, Vetted, Withdrawn,
};
#[doc(hidden)]
pub use arbitration::{ExplainArbitration, ExplainRuling, Never};
pub use belief::Belief;
pub(crate) use directive::OrderDraft;
pub use directive::{AnyClass, AnyOperation, AnyTool, Directive, Order, ReadOnly, ReadWrite};
pub use escalation::{Choice, Escalates, Escalation, FullEscalation, Gap, Recommendation};
pub use fields::Fields;
pub use inquiry::Inquiry;
#[doc(hidden)]
pub use json::Literal;
pub use json::{DoesNotFit, Json, ResultData, ToJson};
pub use layer1::{Layer1, Layer1Order};
pub use named::{Sorted, Unauthorized};
pub use observation::{Answer, Observation};
pub use plan::{Assumption, Plan, Proof, Target, Verified};
pub(crate) use setters::PacketHeaderExtras;
use setters::{
    AuthorizedScopeExtras, DecisionPayloadExtras, TaskDirectivePayloadExtras, TaskResultPayloadExtras,
    ToolAuthorizationPayloadExtras, VerificationPlanPayloadExtras,
};
pub use task::{Authority, NotItsResult, NotStarted, Pending, Running, Settled, Watch};
pub(crate) use token::contradiction;
pub use token::{AnyScope, LiveToken, NamedScope, Permit, TokenSpec};
