//! JSON value with its location.

use omen_schema::pointer;

use crate::json::Json;

/// Value in a file, and the JSON pointer to it.
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

    /// Returns the field `key` (the first one, if repeated).
    pub(super) fn get(&self, key: &str) -> Option<Node<'a>> {
        self.json.get(key).map(|json| self.below(key, json))
    }

    /// Returns the text of the field `key`.
    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        self.json.get(key).and_then(Json::as_str)
    }

    /// Returns the fields of an object; empty for any other value.
    pub(super) fn members(&self) -> impl Iterator<Item = (&'a str, Node<'a>)> {
        self.json.members().iter().map(|(key, json)| (key.as_str(), self.below(key, json)))
    }

    /// Returns the elements of an array; empty for any other value.
    pub(super) fn elements(&self) -> impl Iterator<Item = Node<'a>> {
        let number = |(i, json): (usize, &'a Json)| self.below(&i.to_string(), json);
        self.json.elements().iter().enumerate().map(number)
    }

    /// Returns the elements of the array `key`; empty if it is absent or not an array.
    pub(super) fn list(&self, key: &str) -> Vec<Node<'a>> {
        self.get(key).map(|node| node.elements().collect()).unwrap_or_default()
    }

    /// Returns the strings in the array `key`, each with its node.
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
