//! Senders of each packet type, and the principals for whom packets speak.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::names::pascal;
use super::{bug, doc, ident, list, packet_type, value};
use crate::mistake::Mistakes;
use crate::model::{Kind, Layers, Model};

pub(super) fn emit(model: &Model) -> Result<TokenStream, Mistakes> {
    let layers = &model.fsm.layers;
    if layers.senders.is_empty() {
        return Ok(TokenStream::new());
    }
    let senders = senders(model, layers)?;
    let of_events = of_events(model, layers)?;
    let of_packets = of_packets(model, layers)?;
    let for_others = sources(model, &layers.issues_for_others)?;
    let words = words(model, layers)?;
    Ok(quote! {
        #senders #of_events #of_packets

        /// Layers that may issue tokens on behalf of another layer.
        pub(crate) static ISSUES_FOR_OTHERS: &[LayerSource] = #for_others;

        #words
    })
}

/// Returns the value of the type for a layer name in the schema.
pub(super) fn source(model: &Model, layer: &str) -> Result<TokenStream, Mistakes> {
    let lost = || bug(format!("invalid value `{layer}` for `{LAYER_SOURCE}`"));
    let Some(Kind::Union(branches)) = model.defs.get(LAYER_SOURCE).map(|def| &def.kind) else { return Err(lost()) };
    let ty = ident(LAYER_SOURCE);
    for branch in branches {
        let name = ident(branch);
        match model.defs.get(branch).map(|def| &def.kind) {
            Some(Kind::Integer { min, max }) => {
                if let Some(number) = layer.parse().ok().filter(|number| (min..=max).contains(&number)) {
                    let number = Literal::u64_unsuffixed(number);
                    return Ok(quote!(#ty::#name(#name::of::<#number>())));
                }
            }
            Some(Kind::Enum(values)) if values.iter().any(|value| value.wire == layer) => {
                let value = value(model, branch, layer)?;
                return Ok(quote!(#ty::#name(#name::#value)));
            }
            _ => {}
        }
    }
    Err(lost())
}

fn sources(model: &Model, layers: &[String]) -> Result<TokenStream, Mistakes> {
    let all = layers.iter().map(|layer| source(model, layer)).collect::<Result<Vec<_>, _>>()?;
    Ok(list(all))
}

fn senders(model: &Model, layers: &Layers) -> Result<TokenStream, Mistakes> {
    let entries = layers.senders.iter().map(|sender| {
        let (layer, description) = (source(model, &sender.layer)?, &sender.description);
        let packets = sender.sends.iter().map(|packet| packet_type(model, packet)).collect::<Result<Vec<_>, _>>()?;
        let sends = quote!(&[#(PacketType::#packets),*]);
        Ok(quote!(SenderInfo { layer: #layer, sends: #sends, description: #description }))
    });
    let entries = entries.collect::<Result<Vec<_>, Mistakes>>()?;
    Ok(quote! {
        /// Senders: one entry for each layer (D63).
        pub static SENDERS: &[SenderInfo] = &[#(#entries),*];
    })
}

/// Emits the permitted layers of each event.
fn of_events(model: &Model, layers: &Layers) -> Result<TokenStream, Mistakes> {
    let arms = model.fsm.events.iter().map(|event| {
        let name = ident(&pascal(&event.id));
        let packet = event.packet.as_ref().filter(|packet| !layers.unjudged.contains(packet));
        let Some(packet) = packet.filter(|_| !layers.anywhere.contains(&event.id)) else {
            return Ok(quote!(Event::#name => None));
        };
        let from = layers.senders.iter().filter(|sender| sender.sends.contains(packet));
        let from = sources(model, &from.map(|sender| sender.layer.clone()).collect::<Vec<_>>())?;
        Ok(quote!(Event::#name => Some(const { #from })))
    });
    let arms = arms.collect::<Result<Vec<_>, Mistakes>>()?;
    Ok(quote! {
        impl Event {
            /// Returns the layers that send packets of this kind; `None` if any layer may or if the layer is not judged (D63).
            #[must_use]
            pub fn senders(self) -> Option<&'static [LayerSource]> {
                match self { #(#arms),* }
            }
        }
    })
}

/// Returns the layer from which the typed API sends a packet: the first in `typed` that may send it.
pub(super) fn own<'m>(layers: &'m Layers, packet: &String) -> &'m str {
    let sends =
        |layer: &&String| layers.senders.iter().any(|sender| sender.layer == **layer && sender.sends.contains(packet));
    let own = layers.typed.iter().find(sends).or(layers.typed.first());
    own.map_or("", String::as_str)
}

/// Emits the layer from which the typed API sends each packet type.
fn of_packets(model: &Model, layers: &Layers) -> Result<TokenStream, Mistakes> {
    let arms = model.packets.iter().map(|packet| {
        let (packet, layer) = (packet_type(model, packet)?, source(model, own(layers, packet))?);
        Ok(quote!(PacketType::#packet => #layer))
    });
    let arms = arms.collect::<Result<Vec<_>, Mistakes>>()?;
    Ok(quote! {
        /// Returns the layer from which the typed API sends packets of a type (D63).
        #[must_use]
        pub fn sender(packet_type: PacketType) -> LayerSource {
            match packet_type { #(#arms),* }
        }
    })
}

fn words(model: &Model, layers: &Layers) -> Result<TokenStream, Mistakes> {
    let names: Vec<_> = layers.words.iter().map(|word| ident(&word.name)).collect();
    let docs = layers.words.iter().map(|word| doc(&word.description));
    let arms = model.fsm.events.iter().map(|event| {
        let name = ident(&pascal(&event.id));
        let mut of = layers.words.iter().filter(|word| word.events.contains(&event.id)).map(|word| ident(&word.name));
        match (of.next(), of.next()) {
            (Some(word), None) => Ok(quote!(Event::#name => Some(Word::#word))),
            (None, _) => Ok(quote!(Event::#name => None)),
            _ => Err(bug(format!("the event `{}` is the word of two", event.id))),
        }
    });
    let arms = arms.collect::<Result<Vec<_>, Mistakes>>()?;
    Ok(quote! {
        /// Principal, other than the agent, for whom a packet speaks.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Word { #(#docs #names),* }

        impl Word {
            /// Returns the principal of an event; `None` for the agent itself.
            pub(crate) fn of_event(event: Event) -> Option<Self> {
                match event { #(#arms),* }
            }
        }
    })
}

/// Definition of the layer of a packet.
const LAYER_SOURCE: &str = "LayerSource";
