//! The references of a schema, and the schemas that apply together.

use jsonschema::Draft;
use serde_json::Value;

use super::unfit::{Unfit, undecided};
use crate::base::bounded;

/// Resolves the references of one document.
#[derive(Clone, Copy, Debug)]
pub(super) struct References<'v> {
    pub(super) root: &'v Value,
    /// Whether what stands beside a reference counts.
    pub(super) beside: bool,
    /// Whether there is `prefixItems`.
    pub(super) prefix: bool,
}

impl<'v> References<'v> {
    pub(super) fn of(root: &'v Value) -> Self {
        let draft = Draft::default().detect(root);
        Self { root, beside: draft > Draft::Draft7, prefix: draft > Draft::Draft201909 }
    }

    /// All schemas that apply together because of one: itself, what it refers to, and what `allOf` has.
    pub(super) fn together(&self, schema: &'v Value) -> Result<Vec<&'v Value>, Unfit> {
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
