//! Verdicts of a dry run.

use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use crate::base::{Blocked, GateCode};
use crate::call::Demand;
use crate::request::plan::FinalAnswer;

/// The gate's verdict on a plan. As JSON, it is an object with `verdict`, `code`, `message` and `help`, in this order;
/// inapplicable members are `null`.
#[derive(Debug, PartialEq)]
pub enum PlanVerdict {
    /// The gate would call the tool.
    Allow,
    /// The gate would call the tool after a confirmation (G3).
    NeedsConfirmation(Demand),
    /// The gate would return the question to the user and call no tool (PG-T).
    Terminal(FinalAnswer),
    /// The gate would refuse the plan.
    Block(Blocked),
}

impl PlanVerdict {
    /// Returns the name of the verdict: `allow`, `needs_confirmation`, `terminal` or `block`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::NeedsConfirmation(_) => "needs_confirmation",
            Self::Terminal(_) => "terminal",
            Self::Block(_) => "block",
        }
    }

    /// Returns the rule behind the verdict.
    #[must_use]
    pub fn code(&self) -> Option<GateCode> {
        match self {
            Self::Allow => None,
            Self::NeedsConfirmation(_) => Some(GateCode::G3),
            Self::Terminal(_) => Some(GateCode::PgT),
            Self::Block(blocked) => Some(blocked.code),
        }
    }

    /// Returns the reason for the verdict.
    #[must_use]
    pub fn message(&self) -> Option<String> {
        match self {
            Self::Allow => None,
            Self::NeedsConfirmation(demand) => {
                Some(format!("the call of `{}` needs a confirmation before it runs", demand.tool))
            }
            Self::Terminal(_) => Some("the user is asked for more, and no tool is called".to_owned()),
            Self::Block(blocked) => Some(blocked.message.clone()),
        }
    }

    /// Returns the help: how to fix what the verdict refuses.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        match self {
            Self::Allow | Self::Terminal(_) => None,
            Self::NeedsConfirmation(Demand { always_confirm: true, .. }) => {
                Some("provide a confirmer: the operator requires a confirmation for every call of this tool")
            }
            Self::NeedsConfirmation(_) => {
                Some("provide a confirmer, or ask the operator to pre-grant the tool's permissions")
            }
            Self::Block(blocked) => Some(&blocked.help),
        }
    }
}

impl Serialize for PlanVerdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Verdict", 4)?;
        object.serialize_field("verdict", self.name())?;
        object.serialize_field("code", &self.code().map(GateCode::as_str))?;
        object.serialize_field("message", &self.message())?;
        object.serialize_field("help", &self.help())?;
        object.end()
    }
}
