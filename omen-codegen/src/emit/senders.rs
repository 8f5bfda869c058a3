//! Layers of packets as types: parameters of the packet builder, so that a wrong layer does not compile.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::{doc, ident, layers};
use crate::mistake::Mistakes;
use crate::model::Model;

/// Emits the types, and which packets each of them sends. Empty if the state machine defines no layers.
pub(super) fn emit(model: &Model) -> Result<TokenStream, Mistakes> {
    let table = &model.fsm.layers;
    if table.senders.is_empty() {
        return Ok(TokenStream::new());
    }
    let mut sends = Vec::new();
    for packet in &model.packets {
        let of = ident(packet);
        let mut impls = |name: &Ident, layer: &str| -> Result<(), Mistakes> {
            let layer = layers::source(model, layer)?;
            sends.push(quote! {
                impl Sends<#of> for #name {
                    const LAYER: LayerSource = #layer;
                }
            });
            Ok(())
        };
        let from_anywhere =
            |event: &&crate::model::Event| event.packet.as_ref() == Some(packet) && table.anywhere.contains(&event.id);
        let any = table.unjudged.contains(packet) || model.fsm.events.iter().find(from_anywhere).is_some();
        for sender in table.senders.iter().filter(|sender| any || sender.sends.contains(packet)) {
            impls(&name(&sender.layer), &sender.layer)?;
        }
        impls(&format_ident!("Own"), layers::own(table, packet))?;
    }
    let types = table.senders.iter().map(|sender| {
        let (name, docs) = (name(&sender.layer), doc(&sender.description));
        quote! {
            #docs
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
            pub struct #name;
        }
    });
    Ok(quote! {
        /// Layers of packets, as types (D63).
        pub mod layers {
            use super::*;

            #(#types)*

            /// Layer from which an agent sends each packet type.
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
            pub struct Own;

            /// Layer that sends packets of the type `P` (D63). An observation may come from any layer, because only its
            /// content shows whether it is the observation of a user.
            #[diagnostic::on_unimplemented(
                message = "LAYER: `{Self}` does not send a `{P}`",
                label = "this layer does not send it",
                note = "`Origin` by itself takes the layer that sends each packet; `.sent_by(..)` is for a packet of another layer"
            )]
            pub trait Sends<P>: Copy {
                /// Layer as packets state it.
                const LAYER: LayerSource;
            }

            #(#sends)*

            /// Returns the layer as packets state it.
            pub(super) fn layer_of<P, L: Sends<P>>(_: L) -> LayerSource {
                L::LAYER
            }
        }
    })
}

/// Returns the name of a layer's type: `Layer1` for `1`.
fn name(layer: &str) -> Ident {
    if layer.starts_with(|c: char| c.is_ascii_digit()) { format_ident!("Layer{layer}") } else { ident(layer) }
}
