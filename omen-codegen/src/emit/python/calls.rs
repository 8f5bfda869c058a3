//! Outcome of each call as JSON: what the package raises at run time, and what its tests expect.

use std::collections::BTreeMap;

use super::texts::{RefusedCall, class, refused};
use crate::mistake::{Mistakes, bug};
use crate::model::Model;

/// Calls of the methods in one state; `None` is legal.
type Calls<'m> = BTreeMap<&'m str, Option<RefusedCall>>;

pub(super) fn emit(model: &Model) -> Result<String, Mistakes> {
    let typed = &model.fsm.typed;
    let mut states: BTreeMap<String, Calls<'_>> = BTreeMap::new();
    for state in &typed.states {
        let calls = typed.moves.iter().map(|mv| Ok((mv.method.as_str(), refused(model, state, mv)?)));
        states.insert(class(&state.ty), calls.collect::<Result<_, Mistakes>>()?);
    }
    let text =
        serde_json::to_string_pretty(&states).map_err(|error| bug(format!("the calls are not JSON: {error}")))?;
    Ok(text + "\n")
}
