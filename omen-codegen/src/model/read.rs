//! Reading of JSON, with the place of each mistake.

use omen_schema::pointer;

use crate::json::Json;
use crate::mistake::Mistake;

/// Location in a file, for mistakes.
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

pub(super) fn each<T>(
    at: &Location<'_>,
    json: &Json,
    key: &str,
    build: fn(&Location<'_>, &Json) -> Result<T, Mistake>,
) -> Result<Vec<T>, Mistake> {
    json.get(key)
        .map_or(&[][..], Json::elements)
        .iter()
        .enumerate()
        .map(|(i, entry)| build(&at.join(key).join(i), entry))
        .collect()
}

pub(super) fn strings(json: &Json, key: &str) -> Vec<String> {
    json.get(key).map(Json::strings).unwrap_or_default().into_iter().map(str::to_owned).collect()
}
