//! Generation of Rust source from the OMEN schema files.
//!
//! There are five phases, each in its own module: [`load`] parses the files, [`lint`] refuses what the later phases could not
//! represent faithfully, `typify` declares the data types with the crate of that name, [`mod@model`] holds the content of the
//! files (frozen from here on), and [`emit`] consists of pure functions from the model to tokens. Only [`Source`] formats them.
//!
//! ```
//! let model = omen_codegen::model(omen_schema::FILES.iter().copied())?;
//! let codes = omen_codegen::emit::codes(&model)?;
//! assert!(codes.to_string().contains("pub enum Code"));
//! # Ok::<(), omen_codegen::mistake::Mistakes>(())
//! ```
//!
//! Architecture invariant: this crate is used at build time only, and knows the meaning of no rule.
//! Architecture invariant: the same files yield the same text, on every machine and every day.

pub mod build_script;
mod catch_panic;
pub mod emit;
pub mod json;
pub mod lint;
pub mod load;
pub mod mistake;
pub mod model;
pub mod pattern;
pub mod place;
mod placeholders;
mod typify;

use mistake::Mistakes;
use model::Model;

/// Loads, lints and models schema files, given as `(path, text)`.
///
/// # Errors
/// All mistakes in the files, with location and help.
pub fn model<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Model, Mistakes> {
    let build = || {
        let set = load::SchemaSet::load(files)?;
        lint::lint(&set)?;
        Model::build(&set).map_err(|mistakes| mistakes.located(set.texts()))
    };
    build().map_err(Mistakes::in_every_build)
}

/// Formatted Rust source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source(String);

impl Source {
    /// Formats tokens.
    ///
    /// # Errors
    /// Tokens that are not a Rust file: a bug in an emitter, and reported as such.
    pub fn format(tokens: proc_macro2::TokenStream) -> Result<Self, Mistakes> {
        match syn::parse2::<syn::File>(tokens) {
            Ok(mut file) => {
                // Items are formatted one by one, in order to put a blank line between them.
                let items = std::mem::take(&mut file.items).into_iter().map(|item| {
                    file.items = vec![item];
                    prettyplease::unparse(&file)
                });
                Ok(Self(items.collect::<Vec<_>>().join("\n")))
            }
            Err(error) => Err(mistake::bug(format!("the generated tokens are not a Rust file: {error}"))),
        }
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Writes the text to a file in `OUT_DIR`, for a build script.
    ///
    /// # Errors
    /// The I/O error.
    pub fn write_to_out_dir(&self, name: &str) -> std::io::Result<()> {
        let folder = std::env::var_os("OUT_DIR")
            .ok_or_else(|| std::io::Error::other("OUT_DIR is not set: call this from a build script"))?;
        std::fs::write(std::path::Path::new(&folder).join(name), &self.0)
    }
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
