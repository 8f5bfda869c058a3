//! Decisions on questions that the protocol's documents leave open.

use super::read::{Location, text};
use crate::json::Json;
use crate::load::{DECISIONS_FILE, SchemaSet};
use crate::mistake::Mistake;

/// Decision that rules and texts cite by its code.
#[derive(Clone, Debug)]
pub struct Decision {
    /// Code, such as `D29`.
    pub code: String,
    /// Short title.
    pub title: String,
    /// Paragraphs; those that begin with `- ` are list items.
    pub text: Vec<String>,
}

pub(super) fn build(set: &SchemaSet) -> Result<Vec<Decision>, Mistake> {
    let at = Location { file: DECISIONS_FILE, pointer: String::new() };
    let json = set.file(DECISIONS_FILE).ok_or_else(|| at.wrong("the file is missing"))?;
    let list = json.get("decisions").map_or(&[][..], Json::elements);
    list.iter()
        .enumerate()
        .map(|(i, json)| {
            let at = at.join("decisions").join(i);
            let paragraphs = json.get("text").map(Json::strings).unwrap_or_default();
            Ok(Decision {
                code: text(&at, json, "code")?,
                title: text(&at, json, "title")?,
                text: paragraphs.into_iter().map(str::to_owned).collect(),
            })
        })
        .collect()
}
