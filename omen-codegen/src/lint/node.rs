//! A JSON value together with the place where it stands.

use omen_schema::pointer;

use crate::json::Json;

/// A value of a file, and the JSON pointer to it.
#[derive(Clone, Debug)]
pub(super) struct Node<'a> {
    pub(super) file: &'a str,
    pub(super) pointer: String,
    pub(super) json: &'a Json,
}

impl<'a> Node<'a> {
    pub(super) fn root(file: &'a str, json: &'a Json) -> Self {
        Self { file, pointer: String::new(), json }
    }

    /// The member `key` (the first, if it is repeated).
    pub(super) fn get(&self, key: &str) -> Option<Node<'a>> {
        self.json.get(key).map(|json| self.below(key, json))
    }

    /// The text of the member `key`.
    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        self.json.get(key).and_then(Json::as_str)
    }

    /// The members of an object; none for anything else.
    pub(super) fn members(&self) -> impl Iterator<Item = (&'a str, Node<'a>)> {
        self.json.members().iter().map(|(key, json)| (key.as_str(), self.below(key, json)))
    }

    /// The elements of an array; none for anything else.
    pub(super) fn elements(&self) -> impl Iterator<Item = Node<'a>> {
        let number = |(i, json): (usize, &'a Json)| self.below(&i.to_string(), json);
        self.json.elements().iter().enumerate().map(number)
    }

    /// The elements of the array `key`; none if it is absent or no array.
    pub(super) fn list(&self, key: &str) -> Vec<Node<'a>> {
        self.get(key).map(|node| node.elements().collect()).unwrap_or_default()
    }

    /// The elements of the array `key` that are strings, each with its text.
    pub(super) fn texts(&self, key: &str) -> Vec<(&'a str, Node<'a>)> {
        let text = |node: Node<'a>| node.json.as_str().map(|text| (text, node));
        self.list(key).into_iter().filter_map(text).collect()
    }

    fn below(&self, step: &str, json: &'a Json) -> Node<'a> {
        let mut pointer = self.pointer.clone();
        pointer::push(&mut pointer, step);
        Node { file: self.file, pointer, json }
    }
}
