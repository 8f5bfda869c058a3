//! Reading JSON, with the location of each mistake.

use omen_schema::pointer;
use serde::de::DeserializeOwned;

use crate::json::Json;
use crate::mistake::Mistake;

/// Location in a file, used in mistakes.
#[derive(Clone, Debug)]
pub(crate) struct Location<'f> {
    pub(crate) file: &'f str,
    pub(crate) pointer: String,
}

impl Location<'_> {
    pub(crate) fn join(&self, part: impl std::fmt::Display) -> Self {
        let mut pointer = self.pointer.clone();
        pointer::push(&mut pointer, &part.to_string());
        Self { file: self.file, pointer }
    }

    pub(crate) fn wrong(&self, problem: &str) -> Mistake {
        Mistake {
            place: None,
            file: self.file.to_owned(),
            pointer: self.pointer.clone(),
            kind: "not-linted",
            problem: problem.to_owned(),
            help: "bring the file into the shape that the lint phase describes".to_owned(),
        }
    }
}

pub(crate) fn text(at: &Location<'_>, json: &Json, key: &str) -> Result<String, Mistake> {
    json.get(key)
        .and_then(Json::as_str)
        .map(str::to_owned)
        .ok_or_else(|| at.join(key).wrong("a string is expected here"))
}

/// Reads a value as the type that describes it.
pub(crate) fn read<T: DeserializeOwned>(at: &Location<'_>, json: &Json) -> Result<T, Mistake> {
    T::deserialize(json.to_value()).map_err(|error| at.wrong(&error.to_string()))
}

/// Reads the list in a field; if the field is missing, the list is empty.
pub(crate) fn list<T: DeserializeOwned>(at: &Location<'_>, json: &Json, key: &str) -> Result<Vec<T>, Mistake> {
    json.get(key).map_or(Ok(Vec::new()), |list| read(&at.join(key), list))
}
