//! Emit: pure functions from the model to Rust code.

use std::path::Path;

use proc_macro2::TokenStream;
use quote::ToTokens as _;

use crate::Source;
use crate::catch_panic::catch_panic;
use crate::mistake::Mistakes;
use crate::model::{Def, Model, Rule};

pub(crate) use crate::mistake::bug;

mod branches;
mod codes;
mod compile_errors;
mod context;
mod depth;
mod enums;
mod episode;
mod facts;
mod fsm;
mod functions;
mod gate;
mod helps;
mod keywords;
mod layers;
mod lens;
mod markers;
mod names;
mod objects;
mod packet;
mod packet_builder;
mod parser;
mod pipeline;
pub mod python;
mod readers;
mod restricted_enums;
mod scalars;
mod schemas;
mod senders;
mod setters;
mod shapes;
mod types;
mod typestate;
mod unions;

pub(crate) use context::{Context, DefinitionCode};
pub use lens::Lens;
pub use markers::Markers;
pub(crate) use names::{NUMBER, doc, ident, list, packet_type, packet_variant, value};
pub use setters::Setters;

/// Emits the packet types with builders, parsers, facts and shapes, for `omen-types`.
///
/// # Errors
/// Names in the lens that the schemas do not define.
pub fn types(model: &Model, lens: &Lens) -> Result<Source, Mistakes> {
    source(model, || all(&Context::new(model, lens)?))
}

/// Emits the packet types of [`types`] with `schemars::JsonSchema` derived.
///
/// # Errors
/// Same as [`types`].
pub fn types_with_schemas(model: &Model, lens: &Lens) -> Result<Source, Mistakes> {
    source(model, || {
        let mut context = Context::new(model, lens)?;
        schemas::derive(&mut context.types, model)?;
        all(&context)
    })
}

fn all(context: &Context<'_>) -> Result<TokenStream, Mistakes> {
    let mut all = DefinitionCode::default();
    for def in context.model.defs.values() {
        all.add(one(context, def)?);
    }
    all.add(packet::emit(context)?);
    all.items.extend(shapes::all(context));
    Ok(into_tokens(all))
}

/// Emits the unmodified output of typify, on which the declarations of [`types`] are based.
///
/// # Errors
/// Only a bug in typify.
pub fn typify(model: &Model) -> Result<Source, Mistakes> {
    source(model, || Ok(model.declared.file.to_token_stream()))
}

/// Returns the definitions that typify does not declare, each with the type that replaces it.
#[must_use]
pub fn replaced(model: &Model) -> Vec<(String, String)> {
    let types = model.declared.replaced.iter();
    types.map(|(name, ty)| (name.clone(), ty.to_token_stream().to_string())).collect()
}

/// Emits everything for one definition: its type with builder, parsers, facts and shape.
///
/// # Errors
/// Same as [`types`], and an unknown definition.
pub fn definition(model: &Model, lens: &Lens, name: &str) -> Result<Source, Mistakes> {
    source(model, || Ok(into_tokens(one(&Context::new(model, lens)?, model.def(name)?)?)))
}

/// Emits the dispatch by packet type: `Packet`, `PacketFacts` and its parser.
///
/// # Errors
/// Same as [`types`].
pub fn packets(model: &Model, lens: &Lens) -> Result<Source, Mistakes> {
    source(model, || Ok(into_tokens(packet::emit(&Context::new(model, lens)?)?)))
}

/// Emits the codes and their texts, for `omen-types`.
///
/// # Errors
/// Only a bug in the emitter.
pub fn codes(model: &Model) -> Result<Source, Mistakes> {
    source(model, || Ok(codes::emit(model)))
}

/// Emits the help texts of individual findings for the rules that a crate checks: `omen-invariants` and `omen-fsm`.
///
/// # Errors
/// Only a bug in the emitter.
pub fn helps(model: &Model, is_wanted: impl Fn(&Rule) -> bool) -> Result<Source, Mistakes> {
    source(model, || helps::emit(model, is_wanted))
}

/// Emits the codes of the tool boundary and their texts, for `omen-gate`.
///
/// # Errors
/// Only a bug in the emitter.
pub fn gate(model: &Model) -> Result<Source, Mistakes> {
    source(model, || Ok(gate::emit(model)))
}

/// Emits states, events, transition table and verification loop, for `omen-fsm`.
///
/// # Errors
/// Names in the state machine that the schemas do not define.
pub fn fsm(model: &Model) -> Result<Source, Mistakes> {
    source(model, || {
        let mut tokens = fsm::machine(model)?;
        tokens.extend(fsm::refusals(model));
        tokens.extend(fsm::verification_loop(model)?);
        tokens.extend(layers::emit(model)?);
        Ok(tokens)
    })
}

/// Emits states, events and the transition table: the first part of [`fsm`].
///
/// # Errors
/// Same as [`fsm`].
pub fn machine(model: &Model) -> Result<Source, Mistakes> {
    source(model, || fsm::machine(model))
}

/// Emits the code of each cell: the second part of [`fsm`].
///
/// # Errors
/// Same as [`fsm`].
pub fn refusals(model: &Model) -> Result<Source, Mistakes> {
    source(model, || Ok(fsm::refusals(model)))
}

/// Emits the obligations of the verification loop for `omen-invariants`, whose ledger records which are met.
///
/// # Errors
/// Only a bug in the emitter.
pub fn obligations(model: &Model) -> Result<Source, Mistakes> {
    source(model, || Ok(fsm::obligations(model)))
}

/// Emits the node of the verification loop and the packets that meet its obligations: the third part of [`fsm`].
///
/// # Errors
/// Same as [`fsm`].
pub fn verification_loop(model: &Model) -> Result<Source, Mistakes> {
    source(model, || fsm::verification_loop(model))
}

/// Emits the senders of each packet type and the principals for whom packets speak: the last part of [`fsm`].
///
/// # Errors
/// Same as [`fsm`].
pub fn layers(model: &Model) -> Result<Source, Mistakes> {
    source(model, || layers::emit(model))
}

/// Emits marker types for enum values and list lengths, for `omen-invariants`.
///
/// # Errors
/// Names in `markers` that the schemas do not define, or a name that it uses twice.
pub fn markers(model: &Model, markers: &Markers) -> Result<Source, Mistakes> {
    source(model, || markers::emit(model, markers))
}

/// Emits one trait for each predicate of a rule on the facts of an envelope, for `omen-invariants`.
///
/// # Errors
/// Same as [`markers()`].
pub fn predicates(model: &Model, markers: &Markers) -> Result<Source, Mistakes> {
    source(model, || compile_errors::emit(model, markers))
}

/// Reads the files that implement moves or steps, one per method, sorted by name.
///
/// # Errors
/// The error of reading the folder or a file.
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

/// Emits the typed API for `omen-fsm`: the predicates on moves, the typestates, the methods of each, and the traits
/// that explain illegal calls. `moves` are the files that implement the methods, by method.
///
/// # Errors
/// A contradiction between the files and the state machine.
pub fn episode(model: &Model, moves: &[(String, String)]) -> Result<Source, Mistakes> {
    source(model, || episode::emit(model, moves))
}

/// Emits the setters of the typed API for the fields without a hand-written method, for `omen-fsm`.
///
/// # Errors
/// Names in `setters` that the schemas do not define, or a field without any setter.
pub fn setters(model: &Model, setters: &Setters) -> Result<Source, Mistakes> {
    source(model, || setters::emit(model, setters))
}

/// Emits the path of a request through the gate for `omen-gate`: the method of each state, and the traits that explain
/// calls in other states. `steps` are the files that implement the methods, by method.
///
/// # Errors
/// A contradiction between the files and the pipeline.
pub fn pipeline(model: &Model, steps: &[(String, String)]) -> Result<Source, Mistakes> {
    source(model, || pipeline::emit(model, steps))
}

fn source(model: &Model, emit: impl FnOnce() -> Result<TokenStream, Mistakes>) -> Result<Source, Mistakes> {
    catch_panic(|| Source::format(emit()?)).map_err(|mistakes| mistakes.located(&model.texts))
}

fn one(context: &Context<'_>, def: &Def) -> Result<DefinitionCode, Mistakes> {
    let mut tokens = enums::emit(context, def)?;
    tokens.extend(scalars::emit(context, def)?);
    tokens.extend(unions::emit(context, def)?);
    let DefinitionCode { items, needs, .. } = objects::emit(context, def)?;
    tokens.extend(items);
    tokens.extend(shapes::emit(context, def)?);
    if context.types.schemas {
        tokens.extend(schemas::replaced(def));
    }
    Ok(DefinitionCode { items: tokens, facts: facts::emit(context, def)?, needs })
}

/// Joins the code of all definitions, with one hidden module for facts and one for the requirements of builders.
fn into_tokens(DefinitionCode { mut items, facts, needs }: DefinitionCode) -> TokenStream {
    items.extend(facts::module(&facts));
    items.extend(typestate::needs(&needs));
    items
}
