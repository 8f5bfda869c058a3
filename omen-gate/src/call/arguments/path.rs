//! Paths below a folder.
//!
//! A path is judged in every way that the programs behind the gate may read it: with `..` as the operating system takes it,
//! behind links, and as a program that cuts it out of the text; as it is written, and in each of Unicode's forms. All of
//! them have to lead below the folder. What a program may decode or expand is refused before.

mod links;
mod spelling;

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Component, Path, PathBuf};

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use serde_json::Value;

use super::broken::Why;
use super::types::Types;
use crate::base::bounded;

/// Folders, as they are written in the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Under {
    pub(crate) folders: Vec<String>,
    /// From where the server starts relative paths, if the operator knows that. Servers differ: one starts from its working
    /// directory, another from a folder that it was given, or from one that its client names later.
    pub(crate) relative_to: Option<String>,
}

impl Under {
    /// Lets a path pass that leads to one of the folders or below it. What is relative in the configuration starts from `start`.
    pub(super) fn judge(&self, value: &Value, start: &Path) -> Result<(), Why> {
        let Value::String(text) = value else { return Err(Why::other_type(Types::STRING, value)) };
        spelling::plain(text).map_err(|why| Why::new(why, self.help()))?;
        let start = std::path::absolute(if start.as_os_str().is_empty() { Path::new(".") } else { start })
            .map_err(|_| self.unknown("the folder that it starts from is not known"))?;
        let folders = self.folders(&start)?;
        for reading in readings(text) {
            let whole = match &self.relative_to {
                _ if Path::new(&reading).is_absolute() => PathBuf::from(&reading),
                Some(from) => start.join(from).join(&reading),
                None => {
                    return Err(Why::new(
                        "it is a relative path, and the server decides what it starts from",
                        absolute(&folders),
                    ));
                }
            };
            for path in [lexical(&whole), whole] {
                let leads_to = links::followed(&path).map_err(|why| self.unknown(why))?;
                if !folders.iter().any(|folder| leads_to.starts_with(folder)) {
                    return Err(Why::new("it leads out of the folder", self.help()));
                }
            }
        }
        Ok(())
    }

    /// Where the folders are, behind their links. One that is not there has nothing below it.
    fn folders(&self, start: &Path) -> Result<Vec<PathBuf>, Why> {
        let folders = self.folders.iter().map(|folder| links::followed(&start.join(folder)));
        let folders: Vec<_> = folders.filter_map(Result::ok).filter(|folder| folder.is_dir()).collect();
        if folders.is_empty() {
            let help = "ask the operator to create the folder, or to fix the rule";
            return Err(Why::new("the folder does not exist or cannot be read", help));
        }
        Ok(folders)
    }

    /// The folders that are not there.
    pub(super) fn missing(&self, start: &Path) -> impl Iterator<Item = &str> {
        self.folders.iter().map(String::as_str).filter(move |folder| !start.join(folder).is_dir())
    }

    fn unknown(&self, why: impl fmt::Display) -> Why {
        Why::new(format!("it cannot be followed: {why}"), self.help())
    }

    fn help(&self) -> String {
        let folders: Vec<_> = self.folders.iter().map(|folder| format!("`{}`", bounded(folder))).collect();
        format!(
            "pass the plain path of a file in {}, without `..`, links that lead elsewhere, or encoded characters",
            folders.join(" or ")
        )
    }
}

fn absolute(folders: &[PathBuf]) -> String {
    let folders: Vec<_> = folders.iter().map(|folder| format!("`{}`", bounded(&folder.to_string_lossy()))).collect();
    format!("pass the absolute path of a file in {}", folders.join(" or "))
}

/// The forms of a text that a program may make of it: Unicode has up to four for the same name.
fn readings(text: &str) -> BTreeSet<String> {
    let mut readings = BTreeSet::from([text.to_owned()]);
    if !text.is_ascii() {
        let (nfc, nfkc) = (ComposingNormalizerBorrowed::new_nfc(), ComposingNormalizerBorrowed::new_nfkc());
        let (nfd, nfkd) = (DecomposingNormalizerBorrowed::new_nfd(), DecomposingNormalizerBorrowed::new_nfkd());
        let forms = [nfc.normalize(text), nfkc.normalize(text), nfd.normalize(text), nfkd.normalize(text)];
        readings.extend(forms.into_iter().map(std::borrow::Cow::into_owned));
    }
    readings
}

/// The path without `.` and `..`, as a program makes it that does not look at links.
fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}

impl fmt::Display for Under {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = match self.folders.as_slice() {
            [one] => Value::from(one.as_str()),
            many => many.iter().map(String::as_str).collect(),
        };
        write!(f, "under = {}", bounded(&shown.to_string()))
    }
}
