//! PG-3: the operator's allowlist.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Catalog, Listed, Pin};
use crate::base::{Blocked, GateCode, ToolId, TurnId, bounded};
use crate::call::arguments::ArgumentRules;
use crate::call::{Call, Demand, Rate, ToolCall};

/// Tool that the operator allows in one form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// Tool and the requirements of a call, as stated by the operator.
    pub demand: Demand,
    /// Pin of the reviewed form. Without a pin, the tool is listed but not approved: it does not run, and the refusal
    /// shows the pin.
    pub pin: Option<Pin>,
    /// Rules on a call's arguments.
    pub arguments: ArgumentRules,
    /// Rate limit.
    pub rate: Option<Rate>,
}

/// Allowlist. A tool may run only if it is listed here and was discovered in the approved form.
#[derive(Clone, Debug)]
pub struct Allowlist {
    entries: BTreeMap<ToolId, Allowed>,
    /// Reason why nothing is allowed at all.
    nothing: Option<String>,
}

/// Error for an allowlist that lists a tool twice.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the allowlist names `{tool}` twice")]
pub struct BadAllowlist {
    /// Tool that is listed twice.
    pub tool: ToolId,
}

impl Allowlist {
    /// Creates an allowlist in which each tool occurs once.
    ///
    /// # Errors
    /// If a tool is listed twice. [`Allowlist::nothing`] is the safe fallback.
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

    /// Sets the directory against which relative paths in argument rules are resolved.
    pub(crate) fn start_from(&mut self, folder: &Path) {
        self.entries.values_mut().for_each(|allowed| allowed.arguments.start_from(folder));
    }

    /// Creates an allowlist that allows nothing because the list is missing or broken. A missing list never means that
    /// every discovered tool is allowed.
    pub fn nothing(why: impl AsRef<str>) -> Self {
        Self { entries: BTreeMap::new(), nothing: Some(bounded(why.as_ref())) }
    }

    /// Returns the entry of a tool.
    #[must_use]
    pub fn get(&self, tool: &ToolId) -> Option<&Allowed> {
        self.entries.get(tool)
    }

    /// Iterates over all entries, by tool.
    pub fn iter(&self) -> impl Iterator<Item = &Allowed> {
        self.entries.values()
    }

    /// Checks that a discovered tool is allowed in its current form. Grants are checked separately (G1).
    ///
    /// # Errors
    /// PG-3 if the tool is not allowed, not approved in any form, or suspended because its form has changed; also if a
    /// rule on its arguments contradicts its schema and so could not be applied to any call.
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

    /// Returns the call if its discovered tool is allowed in its current form. Argument rules and grants are checked
    /// separately.
    ///
    /// # Errors
    /// PG-3 as for [`Self::permit`], and A4 if the arguments cannot be hashed exactly.
    pub(crate) fn permit_call(&self, listed: &Listed, turn: &TurnId, call: &ToolCall) -> Result<Call, Blocked> {
        Call::demanded(turn.clone(), self.permit(listed)?.demand.clone(), call).map_err(|error| {
            Blocked::new(GateCode::A4, error.to_string(), "write such numbers as strings")
                .unquoted_as("the arguments have no canonical JSON form")
        })
    }

    /// Checks that the arguments of a call satisfy their rules.
    ///
    /// # Errors
    /// PG-3.
    pub(crate) fn judge_arguments(&self, call: &Call) -> Result<(), Blocked> {
        self.get(call.tool()).map_or(Ok(()), |allowed| allowed.arguments.judge(call.tool(), call.args()))
    }

    /// Iterates over the effective allowlist: tools that are discovered, allowed in their current form, and callable.
    pub fn effective<'c>(&self, catalog: &'c Catalog) -> impl Iterator<Item = &'c Listed> {
        catalog.iter().filter(|listed| self.permit(listed).is_ok() && listed.problem().is_none())
    }
}

fn blocked(message: impl Into<String>, help: impl Into<String>) -> Blocked {
    Blocked::new(GateCode::Pg3, message, help)
}
