//! References of a schema, and the schemas that apply together with it.

use jsonschema::Draft;
use serde_json::Value;

use super::containment_error::{ContainmentError, undecided};
use crate::base::bounded;

/// Resolver of one document's references.
#[derive(Clone, Copy, Debug)]
pub(super) struct References<'v> {
    pub(super) root: &'v Value,
    /// Whether keywords next to a `$ref` apply.
    pub(super) beside: bool,
    /// Whether the dialect has `prefixItems`.
    pub(super) prefix: bool,
}

impl<'v> References<'v> {
    pub(super) fn new(root: &'v Value) -> Self {
        let draft = Draft::default().detect(root);
        Self { root, beside: draft > Draft::Draft7, prefix: draft > Draft::Draft201909 }
    }

    /// Returns all schemas that apply along with a schema: the schema itself, its reference targets and its `allOf`.
    pub(super) fn together(&self, schema: &'v Value) -> Result<Vec<&'v Value>, ContainmentError> {
        let (mut todo, mut seen, mut all): (_, Vec<&Value>, _) = (vec![schema], Vec::new(), Vec::new());
        while let Some(schema) = todo.pop() {
            if seen.iter().any(|known| std::ptr::eq(*known, schema)) {
                continue;
            }
            if seen.len() >= MOST_TOGETHER {
                return undecided("", "too many schemas apply together");
            }
            seen.push(schema);
            let reference = schema.get("$ref").and_then(Value::as_str);
            if let Some(reference) = reference {
                match reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer)) {
                    Some(target) => todo.push(target),
                    None => return undecided("", format!("`$ref` to `{}` is not followed", bounded(reference))),
                }
            }
            if reference.is_none() || self.beside {
                all.push(schema);
                todo.extend(schema.get("allOf").and_then(Value::as_array).into_iter().flatten());
            }
        }
        Ok(all)
    }
}

const MOST_TOGETHER: usize = 256;
