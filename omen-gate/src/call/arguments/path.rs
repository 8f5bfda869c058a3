//! Rule that confines paths to folders.
//!
//! A path is checked under every reading that a program behind the gate may give it: with `..` resolved by the
//! operating system after following links, and lexically; as written, and in each Unicode normalization form. Every
//! reading must lead into an allowed folder. Texts that a program may decode or expand are refused first.

mod links;
mod spelling;

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use omen_types::scalar::invisible::is_invisible;
use serde_json::Value;

use super::pattern::{TextBounds, characters};
use super::types::ValueTypes;
use super::violation::RefusalReason;
use crate::base::bounded;

/// Allowed folders, as written in the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FolderRule {
    pub(crate) folders: Vec<String>,
    /// Directory against which the server resolves relative paths, if the operator states it. Servers differ: some use
    /// their working directory, others a configured folder or one that the client names later.
    pub(crate) relative_to: Option<String>,
}

impl FolderRule {
    /// Accepts a path to one of the folders or below it. Relative folders in the configuration are resolved against `start`.
    pub(super) fn judge(&self, value: &Value, start: &Path) -> Result<(), RefusalReason> {
        let Value::String(text) = value else { return Err(RefusalReason::other_type(ValueTypes::STRING, value)) };
        spelling::plain(text).map_err(|why| RefusalReason::new(why, self.help()))?;
        let start = std::path::absolute(if start.as_os_str().is_empty() { Path::new(".") } else { start })
            .map_err(|_| self.unknown("the folder that it is relative to is unknown"))?;
        let folders = self.folders(&start)?;
        for reading in readings(text) {
            let whole = match &self.relative_to {
                _ if Path::new(&reading).is_absolute() => PathBuf::from(&reading),
                Some(from) => start.join(from).join(&reading),
                None => {
                    return Err(RefusalReason::new(
                        "it is a relative path, and the server decides what it is relative to",
                        absolute(&folders),
                    ));
                }
            };
            for path in [lexical(&whole), whole] {
                let leads_to = links::followed(&path).map_err(|why| self.unknown(why))?;
                if !folders.iter().any(|folder| leads_to.starts_with(folder)) {
                    return Err(RefusalReason::new("it leads out of the folder", self.help()));
                }
            }
        }
        Ok(())
    }

    /// Returns the languages of paths that are accepted if there are no links: certainly plain names below a folder,
    /// possibly other spellings.
    ///
    /// # Errors
    /// If a folder cannot be made absolute or is not valid UTF-8.
    pub(super) fn text_bounds(&self, start: &Path) -> Result<TextBounds, String> {
        static ODD: LazyLock<[String; 2]> = LazyLock::new(|| {
            let any = characters(|c| !is_invisible(c) && !r"\%$*?".contains(c));
            let odd = characters(|c| "[]{}:".contains(c) || (!c.is_ascii() && !is_invisible(c)));
            let absolute = format!(r"/(?:{any}*/)?\.{{0,2}}(?:/{any}*)?|/{any}*{odd}{any}*");
            [absolute, format!("[{any}--/]{any}*")]
        });
        let start = std::path::absolute(if start.as_os_str().is_empty() { Path::new(".") } else { start });
        let start = start.map_err(|error| error.to_string())?;
        let folder = |folder: &String| {
            let folder = lexical(&start.join(folder));
            let text =
                folder.to_str().ok_or_else(|| format!("the folder `{}` is not valid UTF-8", folder.display()))?;
            let (text, count) = if text == "/" { ("", "+") } else { (text, "*") };
            Ok(format!("{}(?:/{NAME}){count}", regex::escape(text)))
        };
        let folders = self.folders.iter().map(folder).collect::<Result<Vec<_>, String>>()?.join("|");
        let [absolute, relative] = &*ODD;
        let relative = if self.relative_to.is_some() { format!("|{relative}") } else { String::new() };
        let possible = Some(format!(r"\A(?:{folders}|{absolute}{relative})\z"));
        Ok(TextBounds { sure: format!(r"\A(?:{folders})\z"), possible })
    }

    /// Resolves the folders and their links. Nothing can be below a folder that does not exist.
    fn folders(&self, start: &Path) -> Result<Vec<PathBuf>, RefusalReason> {
        let folders = self.folders.iter().map(|folder| links::followed(&start.join(folder)));
        let folders: Vec<_> = folders.filter_map(Result::ok).filter(|folder| folder.is_dir()).collect();
        if folders.is_empty() {
            let help = "ask the operator to create the folder, or to fix the rule";
            return Err(RefusalReason::new("the folder does not exist or cannot be read", help));
        }
        Ok(folders)
    }

    /// Returns the folders that do not exist.
    pub(super) fn missing(&self, start: &Path) -> impl Iterator<Item = &str> {
        self.folders.iter().map(String::as_str).filter(move |folder| !start.join(folder).is_dir())
    }

    fn unknown(&self, why: impl fmt::Display) -> RefusalReason {
        RefusalReason::new(format!("it cannot be resolved: {why}"), self.help())
    }

    fn help(&self) -> String {
        let folders: Vec<_> = self.folders.iter().map(|folder| format!("`{}`", bounded(folder))).collect();
        format!(
            "pass the plain path of a file in {}, without `..`, links that lead elsewhere, or encoded characters",
            folders.join(" or ")
        )
    }
}

/// Regular expression for a name that all programs read alike.
const NAME: &str = r##"(?-u:(?:[\w!"#&'()+,.;<=>@^`|~-][\w !"#&'()+,.;<=>@^`|~-]*)?[\w!"#&'()+,;<=>@^`|~-])"##;

fn absolute(folders: &[PathBuf]) -> String {
    let folders: Vec<_> = folders.iter().map(|folder| format!("`{}`", bounded(&folder.to_string_lossy()))).collect();
    format!("pass the absolute path of a file in {}", folders.join(" or "))
}

/// Returns the texts into which a program may normalize a text: Unicode has four forms.
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

/// Removes `.` and `..` as a program that ignores links does.
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

impl fmt::Display for FolderRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = match self.folders.as_slice() {
            [one] => Value::from(one.as_str()),
            many => many.iter().map(String::as_str).collect(),
        };
        write!(f, "under = {}", bounded(&shown.to_string()))
    }
}
