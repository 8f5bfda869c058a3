//! Nesting levels of free-form values, so that a parser can refuse deep nesting without counting from the packet down.

use std::collections::BTreeMap;

use crate::mistake::{Mistake, Mistakes};
use crate::model::{Item, Kind, Model, Ty};

/// Nesting level of each definition's value, by definition name.
pub(crate) type Depths = BTreeMap<String, u8>;

/// Returns the nesting level of every definition that contains free-form values. Other definitions may occur at any level.
pub(super) fn of_free_forms(model: &Model) -> Result<Depths, Mistakes> {
    let mut walk = Walk { model, depths: Depths::new(), mistakes: Vec::new() };
    for packet in &model.packets {
        walk.visit(packet, 1);
    }
    Mistakes::none_in(walk.mistakes)?;
    Ok(walk.depths)
}

struct Walk<'m> {
    model: &'m Model,
    depths: Depths,
    mistakes: Vec<Mistake>,
}

impl Walk<'_> {
    /// Returns whether the definition contains free-form values.
    fn visit(&mut self, name: &str, depth: u8) -> bool {
        let Some(def) = self.model.defs.get(name) else { return false };
        let holds = match &def.kind {
            // The field that refers to a free-form value determines its level.
            Kind::FreeObject { .. } | Kind::Any => return true,
            // No short-circuiting: every branch and field must be visited.
            Kind::Union(branches) => branches.iter().filter(|branch| self.visit(branch, depth)).count() > 0,
            Kind::Object(object) => {
                object.fields.iter().filter(|field| self.visit_member(&field.ty, depth)).count() > 0
            }
            _ => false,
        };
        if holds
            && let Some(before) = self.depths.insert(name.to_owned(), depth)
            && before != depth
        {
            self.mistakes.push(Mistake {
                place: None,
                file: def.file.clone(),
                pointer: format!("/$defs/{name}"),
                kind: "free-form-at-two-depths",
                problem: format!("`{name}` has free-form values and occurs at nesting levels {before} and {depth}"),
                help: "use a separate definition for each place".to_owned(),
            });
        }
        holds
    }
    /// Returns whether a field of an object at `depth` contains free-form values.
    fn visit_member(&mut self, ty: &Ty, depth: u8) -> bool {
        match ty {
            Ty::Ref(name) => self.visit(name, depth.saturating_add(1)),
            Ty::Array { item: Item::Ref(name), .. } => self.visit(name, depth.saturating_add(2)),
            _ => false,
        }
    }
}
