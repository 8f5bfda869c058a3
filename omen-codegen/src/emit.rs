//! Emit: pure functions from the model to Rust.

use std::path::Path;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use crate::Source;
use crate::mistake::Mistakes;
use crate::model::{Def, Model, PACKET_TYPE, Rule};
use crate::quiet::quietly;

pub(crate) use crate::mistake::bug;

mod branches;
mod codes;
mod depth;
mod enums;
mod episode;
mod facts;
mod fsm;
mod functions;
mod gate;
mod helps;
mod layers;
mod lens;
mod markers;
mod names;
mod narrowed;
mod objects;
mod packet;
mod packet_builder;
mod parser;
mod pipeline;
mod predicates;
mod readers;
mod scalars;
mod schemas;
mod senders;
mod setters;
mod shapes;
mod types;
mod typestate;
mod unions;
mod words;

pub use lens::Lens;
pub use markers::Markers;
pub use setters::Setters;

/// The packet types with builders, parsers, facts and shapes: `omen-types`.
///
/// # Errors
/// If the lens names what the schemas do not have.
pub fn types(model: &Model, lens: &Lens) -> Result<Source, Mistakes> {
    source(model, || all(&Context::new(model, lens)?))
}

/// The packet types of [`types`], each of which derives `schemars::JsonSchema`.
///
/// # Errors
/// As [`types`].
pub fn types_with_schemas(model: &Model, lens: &Lens) -> Result<Source, Mistakes> {
    source(model, || {
        let mut context = Context::new(model, lens)?;
        context.types.derive_schemas(model)?;
        all(&context)
    })
}

fn all(context: &Context<'_>) -> Result<TokenStream, Mistakes> {
    let mut all = Emitted::default();
    for def in context.model.defs.values() {
        all.add(one(context, def)?);
    }
    all.add(packet::emit(context)?);
    Ok(all.into_tokens())
}

/// The output of typify itself, from which the declarations of [`types`] are made.
///
/// # Errors
/// Only by a bug in typify.
pub fn typify(model: &Model) -> Result<Source, Mistakes> {
    source(model, || Ok(model.declared.file.to_token_stream()))
}

/// The definitions that typify does not declare, each with the type that replaces it.
#[must_use]
pub fn replaced(model: &Model) -> Vec<(String, String)> {
    let types = model.declared.replaced.iter();
    types.map(|(name, ty)| (name.clone(), ty.to_token_stream().to_string())).collect()
}

/// All of one definition: its type with builder, parsers, facts and shape.
///
/// # Errors
/// As [`types`], and if there is no such definition.
pub fn definition(model: &Model, lens: &Lens, name: &str) -> Result<Source, Mistakes> {
    source(model, || Ok(one(&Context::new(model, lens)?, model.def(name)?)?.into_tokens()))
}

/// The dispatch by packet type: `Packet`, `PacketFacts` and its parser.
///
/// # Errors
/// As [`types`].
pub fn packets(model: &Model, lens: &Lens) -> Result<Source, Mistakes> {
    source(model, || Ok(packet::emit(&Context::new(model, lens)?)?.into_tokens()))
}

/// The codes and their texts: `omen-types`.
///
/// # Errors
/// Only by a bug in the emitter.
pub fn codes(model: &Model) -> Result<Source, Mistakes> {
    source(model, || Ok(codes::emit(model)))
}

/// The helps of single findings, for the rules that a crate checks: `omen-invariants` and `omen-fsm`.
///
/// # Errors
/// Only by a bug in the emitter.
pub fn helps(model: &Model, is_wanted: impl Fn(&Rule) -> bool) -> Result<Source, Mistakes> {
    source(model, || helps::emit(model, is_wanted))
}

/// The codes of the tool boundary and their texts: `omen-gate`.
///
/// # Errors
/// Only by a bug in the emitter.
pub fn gate(model: &Model) -> Result<Source, Mistakes> {
    source(model, || Ok(gate::emit(model)))
}

/// States, events, table and verification loop: `omen-fsm`.
///
/// # Errors
/// If the state machine names what the schemas do not have.
pub fn fsm(model: &Model) -> Result<Source, Mistakes> {
    source(model, || {
        let mut tokens = fsm::machine(model)?;
        tokens.extend(fsm::refusals(model));
        tokens.extend(fsm::verification_loop(model)?);
        tokens.extend(layers::emit(model)?);
        Ok(tokens)
    })
}

/// States, events and the transition table: the first part of [`fsm`].
///
/// # Errors
/// As [`fsm`].
pub fn machine(model: &Model) -> Result<Source, Mistakes> {
    source(model, || fsm::machine(model))
}

/// The code of each cell: the second part of [`fsm`].
///
/// # Errors
/// As [`fsm`].
pub fn refusals(model: &Model) -> Result<Source, Mistakes> {
    source(model, || Ok(fsm::refusals(model)))
}

/// The obligations of the verification loop: `omen-invariants`, whose ledger remembers which are met.
///
/// # Errors
/// Only by a bug in the emitter.
pub fn obligations(model: &Model) -> Result<Source, Mistakes> {
    source(model, || Ok(fsm::obligations(model)))
}

/// Where the verification loop runs, and which packets meet its obligations: the third part of [`fsm`].
///
/// # Errors
/// As [`fsm`].
pub fn verification_loop(model: &Model) -> Result<Source, Mistakes> {
    source(model, || fsm::verification_loop(model))
}

/// Who sends what, and whose word a packet is: the last part of [`fsm`].
///
/// # Errors
/// As [`fsm`].
pub fn layers(model: &Model) -> Result<Source, Mistakes> {
    source(model, || layers::emit(model))
}

/// Marker types for values of enums and lengths of lists: `omen-invariants`.
///
/// # Errors
/// If `markers` names what the schemas do not have, or gives two things one name.
pub fn markers(model: &Model, markers: &Markers) -> Result<Source, Mistakes> {
    source(model, || markers::emit(model, markers))
}

/// One trait for each predicate of a rule that is about facts of an envelope: `omen-invariants`.
///
/// # Errors
/// As [`markers()`].
pub fn predicates(model: &Model, markers: &Markers) -> Result<Source, Mistakes> {
    source(model, || predicates::emit(model, markers))
}

/// The files in which moves or steps are written out, by method, in the order of their names.
///
/// # Errors
/// If they cannot be read.
pub fn functions(folder: &Path) -> std::io::Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        files.push((name, std::fs::read_to_string(&path)?));
    }
    files.sort();
    Ok(files)
}

/// The typed API: what rules ask of moves, types that stand for states, the methods that each has, and
/// what explains a call in another: `omen-fsm`. `moves` are the files, by method, in which the methods are written out once.
///
/// # Errors
/// If the files and the state machine disagree.
pub fn episode(model: &Model, moves: &[(String, String)]) -> Result<Source, Mistakes> {
    source(model, || episode::emit(model, moves))
}

/// The setters of the typed API, for the members that no hand-written method sets: `omen-fsm`.
///
/// # Errors
/// If `setters` names what the schemas do not have, or if a member is set by nothing.
pub fn setters(model: &Model, setters: &Setters) -> Result<Source, Mistakes> {
    source(model, || setters::emit(model, setters))
}

/// The path of a request through the gate: the method that each state has, and what explains the others:
/// `omen-gate`. `steps` are the files, by method, in which the methods are written out once.
///
/// # Errors
/// If the files and the pipeline disagree.
pub fn pipeline(model: &Model, steps: &[(String, String)]) -> Result<Source, Mistakes> {
    source(model, || pipeline::emit(model, steps))
}

fn source(model: &Model, emit: impl FnOnce() -> Result<TokenStream, Mistakes>) -> Result<Source, Mistakes> {
    quietly(|| Source::format(emit()?)).map_err(|mistakes| mistakes.located(&model.texts))
}

fn one(context: &Context<'_>, def: &Def) -> Result<Emitted, Mistakes> {
    let mut tokens = enums::emit(context, def)?;
    tokens.extend(scalars::emit(context, def)?);
    tokens.extend(unions::emit(context, def)?);
    let Emitted { items, needs, .. } = objects::emit(context, def)?;
    tokens.extend(items);
    tokens.extend(shapes::emit(context, def)?);
    tokens.extend(context.types.replaced_schema(def));
    Ok(Emitted { items: tokens, facts: facts::emit(context, def)?, needs })
}

/// What is emitted of a definition. Facts and the requirements of builders go into one hidden module each, so that there is
/// one item of each to review.
#[derive(Default)]
pub(crate) struct Emitted {
    items: TokenStream,
    facts: TokenStream,
    needs: Vec<TokenStream>,
}

impl Emitted {
    fn add(&mut self, other: Self) {
        self.items.extend(other.items);
        self.facts.extend(other.facts);
        self.needs.extend(other.needs);
    }

    fn into_tokens(self) -> TokenStream {
        let Self { mut items, facts, needs } = self;
        items.extend(facts::module(&facts));
        items.extend(typestate::needs(&needs));
        items
    }
}

/// What all emitters of types use.
pub(crate) struct Context<'m> {
    pub(crate) model: &'m Model,
    pub(crate) lens: &'m Lens,
    pub(crate) depths: depth::Depths,
    pub(crate) types: types::Types,
}

impl<'m> Context<'m> {
    fn new(model: &'m Model, lens: &'m Lens) -> Result<Self, Mistakes> {
        lens.check(model)?;
        Ok(Self { model, lens, depths: depth::of_free_forms(model)?, types: types::Types::of(model)? })
    }
}

/// A doc attribute. A description is plain text but for its backticks: nothing else in it may act as
/// markup.
pub(crate) fn doc(text: &str) -> TokenStream {
    let mut escaped = String::from(" ");
    let mut code = false;
    for c in text.chars() {
        code ^= c == '`';
        if !code && matches!(c, '[' | '<' | '*' | '\\') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    quote!(#[doc = #escaped])
}

/// The name of a parameter that is a number; all others are types.
pub(crate) const NUMBER: &str = "N";

pub(crate) fn ident(name: &str) -> proc_macro2::Ident {
    names::ident(name)
}

/// The Rust name of an enum's value, as typify declares it.
pub(crate) fn value(model: &Model, of: &str, wire: &str) -> Result<proc_macro2::Ident, Mistakes> {
    model.value(of, wire).map(|value| ident(&value.name))
}

/// The Rust name of a packet's type, which is a value of `PacketType`.
pub(crate) fn packet_type(model: &Model, packet: &str) -> Result<proc_macro2::Ident, Mistakes> {
    value(model, PACKET_TYPE, packet)
}

/// The variant of `Packet` for a packet.
pub(crate) fn packet_variant<'m>(model: &'m Model, packet: &str) -> Result<&'m proc_macro2::Ident, Mistakes> {
    model.declared.variant_of("Packet", packet)
}

pub(crate) fn list<T: ToTokens>(items: impl IntoIterator<Item = T>) -> TokenStream {
    let items = items.into_iter();
    quote!(&[#(#items),*])
}
