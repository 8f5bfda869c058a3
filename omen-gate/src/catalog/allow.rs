//! PG-3: what the operator allows.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};

use super::{Catalog, Listed, Pin};
use crate::base::{Blocked, GateCode, ToolId, TurnId, bounded};
use crate::call::arguments::ArgumentRules;
use crate::call::{Call, Demand, Rate};

/// A tool that the operator allows, in one form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// The tool, and what a call of it needs, by the operator's judgement.
    pub demand: Demand,
    /// The form that was reviewed. Without it the tool is known to the operator but not approved yet: it does not run,
    /// and the refusal names the pin.
    pub pin: Option<Pin>,
    /// What the arguments of a call have to be.
    pub arguments: ArgumentRules,
    /// How often it may be called.
    pub rate: Option<Rate>,
}

/// The operator's list. A tool may run only if it stands here and was discovered, in the form that was approved.
#[derive(Clone, Debug)]
pub struct Allowlist {
    entries: BTreeMap<ToolId, Allowed>,
    /// Why nothing is allowed at all.
    nothing: Option<String>,
}

/// A list that cannot be taken, for it says two things of one tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the allowlist names `{tool}` twice")]
pub struct BadAllowlist {
    /// The tool.
    pub tool: ToolId,
}

impl Allowlist {
    /// Takes a list, with each tool once.
    ///
    /// # Errors
    /// If a tool stands in it twice. [`Allowlist::nothing`] is what to go on with.
    pub fn new(entries: impl IntoIterator<Item = Allowed>) -> Result<Self, BadAllowlist> {
        let mut list = Self { entries: BTreeMap::new(), nothing: None };
        for entry in entries {
            let tool = entry.demand.tool.clone();
            if list.entries.insert(tool.clone(), entry).is_some() {
                return Err(BadAllowlist { tool });
            }
        }
        Ok(list)
    }

    /// Has relative paths of the rules on arguments start from a folder.
    pub(crate) fn start_from(&mut self, folder: &Path) {
        self.entries.values_mut().for_each(|allowed| allowed.arguments.start_from(folder));
    }

    /// Allows nothing, and says why: there is no list, or a broken one. It never stands for "everything that was discovered".
    pub fn nothing(why: impl AsRef<str>) -> Self {
        Self { entries: BTreeMap::new(), nothing: Some(bounded(why.as_ref())) }
    }

    /// What the operator says of a tool.
    #[must_use]
    pub fn get(&self, tool: &ToolId) -> Option<&Allowed> {
        self.entries.get(tool)
    }

    /// All that it says, by tool.
    pub fn iter(&self) -> impl Iterator<Item = &Allowed> {
        self.entries.values()
    }

    /// Lets a discovered tool pass that is allowed in its present form. That a call of it is granted is another
    /// question (G1).
    ///
    /// # Errors
    /// PG-3 if the tool is not allowed, not approved in any form, or suspended because its form has changed; also if a rule on
    /// its arguments does not fit its schema, for then no call could be judged by it.
    pub fn permit(&self, listed: &Listed) -> Result<&Allowed, Blocked> {
        let id = listed.id();
        if let Some(why) = &self.nothing {
            return Err(blocked(
                format!("nothing is allowed: {why}"),
                "ask the operator to write or fix the allowlist",
            ));
        }
        let now = listed.pin().map_err(|error| {
            let message = format!("the tool `{id}` cannot be pinned, so it cannot be approved: {error}");
            blocked(message, "fix the tool's schemas on its server")
        })?;
        let Some(allowed) = self.entries.get(id) else {
            let help = format!("ask the operator to review the tool and to allow it with the pin `{now}`");
            return Err(blocked(format!("the operator has not allowed the tool `{id}`"), help));
        };
        match &allowed.pin {
            Some(approved) if approved == now => match allowed.arguments.misfits(&listed.tool().input_schema).first() {
                None => Ok(allowed),
                Some(misfit) => {
                    let message = format!("the rules on the arguments of `{id}` cannot be used: {}", misfit.message);
                    Err(blocked(message, format!("ask the operator to fix the entry in `[[allow]]`: {}", misfit.help)))
                }
            },
            Some(approved) => {
                let message =
                    format!("the tool `{id}` is suspended: it was approved as `{approved}` and has changed to `{now}`");
                let help = format!(
                    "ask the operator to review its name, description and schemas, and to approve them with the pin \
                     `{now}`"
                );
                Err(blocked(message, help))
            }
            None => {
                let help = format!("ask the operator to review the tool and to approve it with the pin `{now}`");
                Err(blocked(format!("the tool `{id}` is in the allowlist without a pin, so it is not approved"), help))
            }
        }
    }

    /// A call of a discovered tool that is allowed in its present form. Whether it may be made with these arguments is for the
    /// rules on them to say, and for grants.
    ///
    /// # Errors
    /// PG-3 as [`Self::permit`], and A4 if the arguments cannot be hashed exactly.
    pub(crate) fn permit_call(
        &self,
        listed: &Listed,
        turn: &TurnId,
        args: &Map<String, Value>,
    ) -> Result<Call, Blocked> {
        Call::new(turn.clone(), self.permit(listed)?.demand.clone(), args.clone()).map_err(|error| {
            Blocked::new(GateCode::A4, error.to_string(), "write such numbers as strings")
                .unquoted_as("the arguments have no canonical text")
        })
    }

    /// Lets a call pass whose arguments satisfy the rules on them.
    ///
    /// # Errors
    /// PG-3.
    pub(crate) fn judge_arguments(&self, call: &Call) -> Result<(), Blocked> {
        self.get(call.tool()).map_or(Ok(()), |allowed| allowed.arguments.judge(call.tool(), call.args()))
    }

    /// The effective allowlist: discovered ∩ allowed, in the approved form, and fit to be called.
    pub fn effective<'c>(&self, catalog: &'c Catalog) -> impl Iterator<Item = &'c Listed> {
        catalog.iter().filter(|listed| self.permit(listed).is_ok() && listed.problem().is_none())
    }
}

fn blocked(message: impl Into<String>, help: impl Into<String>) -> Blocked {
    Blocked::new(GateCode::Pg3, message, help)
}
