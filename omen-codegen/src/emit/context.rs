//! Input shared by the emitters of types, and their output for one definition.

use proc_macro2::TokenStream;

use super::lens::Lens;
use super::{depth, types};
use crate::mistake::Mistakes;
use crate::model::Model;

/// Output for one definition. Facts and the requirements of builders each go into a single hidden module, so that
/// only one hidden item of each kind has to be reviewed.
#[derive(Default)]
pub(crate) struct DefinitionCode {
    pub(super) items: TokenStream,
    pub(super) facts: TokenStream,
    pub(super) needs: Vec<TokenStream>,
}

impl DefinitionCode {
    pub(super) fn add(&mut self, other: Self) {
        self.items.extend(other.items);
        self.facts.extend(other.facts);
        self.needs.extend(other.needs);
    }
}

/// Input shared by all emitters of types.
pub(crate) struct Context<'m> {
    pub(crate) model: &'m Model,
    pub(crate) lens: &'m Lens,
    pub(crate) depths: depth::Depths,
    pub(crate) types: types::Types,
}

impl<'m> Context<'m> {
    pub(super) fn new(model: &'m Model, lens: &'m Lens) -> Result<Self, Mistakes> {
        lens.check(model)?;
        Ok(Self { model, lens, depths: depth::of_free_forms(model)?, types: types::Types::from_model(model)? })
    }
}
