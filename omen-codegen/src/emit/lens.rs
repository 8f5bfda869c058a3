//! Lens: selection of the fields that rules check.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::mistake::{Mistake, Mistakes};
use crate::model::{Model, Ty};

/// File name of a lens, used in mistakes.
const FILE: &str = "lens.json";

/// Selection of the fields of each definition that a facts parser keeps; it checks and discards all others.
///
/// ```
/// use omen_codegen::emit::Lens;
///
/// let lens = Lens::parse(r#"{ "description": "Enough for most.", "keep": { "Stakes": ["impact"] } }"#)?;
/// # let model = omen_codegen::model(omen_schema::FILES.iter().copied())?;
/// let source = omen_codegen::emit::definition(&model, &lens, "Stakes")?;
/// assert!(source.as_str().contains("pub struct StakesFacts"));
/// # Ok::<(), omen_codegen::mistake::Mistakes>(())
/// ```
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lens {
    #[serde(rename = "description")]
    _description: String,
    /// Fields to keep, by definition.
    keep: BTreeMap<String, BTreeSet<String>>,
    /// Rust type that collects an array's elements instead of a `Vec`, by definition and field.
    #[serde(default)]
    fold: BTreeMap<String, BTreeMap<String, String>>,
}

impl Lens {
    /// Parses a lens: an object with `description`, `keep` (definition → fields) and optionally `fold` (definition →
    /// field → the Rust type that collects the array's elements instead of a `Vec`).
    ///
    /// # Errors
    /// A text that is not a lens. Its names are checked later against the schemas.
    pub fn parse(text: &str) -> Result<Self, Mistakes> {
        serde_json::from_str(text).map_err(|error| {
            Mistake {
                place: None,
                file: FILE.to_owned(),
                pointer: String::new(),
                kind: "lens",
                problem: format!("not a lens: {error}"),
                help: "write an object with `description`, `keep` and perhaps `fold`".to_owned(),
            }
            .into()
        })
    }

    /// Returns whether any field of a definition is kept.
    pub(super) fn looks_into(&self, def: &str) -> bool {
        self.keep.contains_key(def)
    }

    /// Returns whether a field is kept.
    pub(super) fn keeps(&self, def: &str, member: &str) -> bool {
        self.keep.get(def).is_some_and(|members| members.contains(member))
    }

    /// Returns the type that collects an array's elements.
    pub(super) fn fold_of(&self, def: &str, member: &str) -> Option<&str> {
        self.fold.get(def)?.get(member).map(String::as_str)
    }

    /// Checks that everything in the lens exists in the model.
    pub(super) fn check(&self, model: &Model) -> Result<(), Mistakes> {
        let mut mistakes = Vec::new();
        let mut wrong = |place: &[&str], problem: String| {
            mistakes.push(Mistake {
                place: None,
                file: FILE.to_owned(),
                pointer: place.iter().map(|step| format!("/{step}")).collect(),
                kind: "lens",
                problem,
                help: "change the lens together with the schema".to_owned(),
            });
        };
        for (def, members) in &self.keep {
            let Some(object) = model.object(def) else {
                wrong(&["keep", def], format!("the lens reads `{def}`, which is not an object here"));
                continue;
            };
            for member in members {
                let reason = match object.field(member).map(|field| &field.ty) {
                    None => "which has no such member",
                    Some(Ty::NullableText) => "which may be null there",
                    Some(_) => continue,
                };
                wrong(&["keep", def], format!("the lens cannot keep `{member}` of `{def}`, {reason}"));
            }
        }
        for (def, members) in &self.fold {
            for member in members.keys().filter(|member| !self.folds_array(model, def, member)) {
                wrong(&["fold", def, member], format!("`{member}` of `{def}` is not an array that the lens keeps"));
            }
        }
        Mistakes::none_in(mistakes)
    }

    fn folds_array(&self, model: &Model, def: &str, member: &str) -> bool {
        let field = model.object(def).and_then(|object| object.field(member));
        self.keeps(def, member) && matches!(field.map(|field| &field.ty), Some(Ty::Array { .. }))
    }
}
