//! Schema files, and the names of their definitions.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::exit::Failure;

/// Returns the names of all files and definitions.
pub(crate) fn names() -> Vec<&'static str> {
    let files =
        omen_schema::FILES.iter().filter_map(|(path, text)| SchemaFile::read(path, text).ok()).collect::<Vec<_>>();
    let mut names: Vec<_> = all_names(&files).collect();
    names.sort();
    names.dedup();
    names
}

pub(super) fn all_names(files: &[SchemaFile]) -> impl Iterator<Item = &'static str> {
    let of_file =
        |file: &SchemaFile| std::iter::once(file.stem).chain(file.definitions.keys().copied()).collect::<Vec<_>>();
    [CONFIG, FINDING].into_iter().chain(files.iter().flat_map(of_file))
}

/// Name under which the schema of the configuration is printed.
pub(super) const CONFIG: &str = "config";

/// Name under which the schema of findings is printed.
pub(super) const FINDING: &str = "finding";

pub(crate) struct SchemaFile {
    pub(super) path: &'static str,
    /// File name up to the first dot.
    pub(super) stem: &'static str,
    pub(super) title: String,
    pub(super) text: &'static str,
    pub(crate) definitions: BTreeMap<&'static str, &'static RawValue>,
}

impl SchemaFile {
    pub(crate) fn read(path: &'static str, text: &'static str) -> Result<Self, Failure> {
        #[derive(Deserialize)]
        struct Fields {
            #[serde(default)]
            title: String,
            #[serde(rename = "$defs", default, borrow)]
            definitions: BTreeMap<&'static str, &'static RawValue>,
        }
        let fields: Fields =
            serde_json::from_str(text).map_err(|error| Failure::Internal(format!("{path}: {error}")))?;
        let name = path.rsplit('/').next().unwrap_or(path);
        let stem = name.split('.').next().unwrap_or(name);
        Ok(Self { path, stem, title: fields.title, text, definitions: fields.definitions })
    }
}
