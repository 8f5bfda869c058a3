//! Input that the emitters of types share, and what they emit for one definition.

use proc_macro2::TokenStream;

use super::lens::Lens;
use super::{depth, types};
use crate::mistake::Mistakes;
use crate::model::Model;

/// Output for one definition. Facts and the requirements of builders go into one hidden module each, so that only one
/// hidden item of each has to be reviewed.
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

/// Input that all emitters of types share.
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
