//! Outline of JSON that is being typed: open brackets at a position, and the range of each name and value.
//!
//! A JSON parser rejects an incomplete packet; here, each token gets its most likely meaning.

use std::ops::Range;

use omen_types::limits::MAX_DEPTH;

/// Outline of a packet.
#[derive(Debug)]
pub(super) struct JsonOutline<'t> {
    text: &'t str,
    /// Nodes in the order in which they begin; a container comes before its contents.
    nodes: Vec<JsonNode>,
}

/// A value, with its name if it is a field of an object.
#[derive(Debug)]
pub(super) struct JsonNode {
    parent: Option<usize>,
    /// Index in the parent, if the parent is an array.
    index: usize,
    /// Range of the name, including its quotes.
    pub(super) key: Option<Range<usize>>,
    /// Range of the value. If the value is missing, the space after the colon; `None` if there is no colon.
    pub(super) value: Option<Range<usize>>,
    pub(super) kind: NodeKind,
    /// Whether the closing bracket is present.
    is_closed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeKind {
    Object,
    Array,
    Text,
    /// Number or bare word.
    Word,
    Missing,
}

/// What can be typed at a position.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TypingSpot {
    Name {
        object: usize,
        typed: Range<usize>,
    },
    /// Value of a field, or an item of an array.
    Value {
        steps: Vec<String>,
        typed: Range<usize>,
    },
}

/// An object or array that has not been closed yet.
struct OpenNode {
    node: usize,
    items: usize,
    /// Name that has no value yet.
    key: Option<Range<usize>>,
    /// Offset after that name's colon.
    colon: Option<usize>,
}

impl<'t> JsonOutline<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let mut outline = Self { text, nodes: Vec::new() };
        outline.scan();
        outline
    }

    fn scan(&mut self) {
        let bytes = self.text.as_bytes();
        let mut open: Vec<OpenNode> = Vec::new();
        let mut at = 0;
        while let Some(byte) = bytes.get(at)
            && self.nodes.len() < MOST_NODES
        {
            let start = at;
            at += 1;
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' => {}
                b'{' | b'[' => {
                    if open.len() > usize::from(MAX_DEPTH) {
                        break;
                    }
                    let kind = if *byte == b'{' { NodeKind::Object } else { NodeKind::Array };
                    let node = self.value(&mut open, kind, start..bytes.len());
                    open.push(OpenNode { node, items: 0, key: None, colon: None });
                }
                b'}' | b']' => {
                    let kind = if *byte == b'}' { NodeKind::Object } else { NodeKind::Array };
                    let closes = |open: &OpenNode| self.nodes.get(open.node).is_some_and(|node| node.kind == kind);
                    let Some(depth) = open.iter().rposition(closes) else { continue };
                    while open.len() > depth {
                        self.close(&mut open, start, at, true);
                    }
                }
                b':' => {
                    if let Some(object) = open.last_mut().filter(|object| object.key.is_some()) {
                        object.colon = Some(at);
                    }
                }
                b',' => {
                    if let Some(object) = open.last_mut() {
                        self.missing(object, start);
                    }
                }
                _ => {
                    let kind = if *byte == b'"' { NodeKind::Text } else { NodeKind::Word };
                    let rest = bytes.get(at..).unwrap_or_default();
                    at += if kind == NodeKind::Text { text_length(rest) } else { word_length(rest) };
                    let is_object = |open: &&mut OpenNode| {
                        self.nodes.get(open.node).is_some_and(|node| node.kind == NodeKind::Object)
                    };
                    if let Some(object) = open.last_mut().filter(is_object).filter(|object| object.colon.is_none()) {
                        self.missing(object, start);
                        object.key = Some(start..at);
                    } else {
                        self.value(&mut open, kind, start..at);
                    }
                }
            }
        }
        while !open.is_empty() {
            self.close(&mut open, bytes.len(), bytes.len(), false);
        }
    }

    /// Adds a value to the innermost open container.
    fn value(&mut self, open: &mut [OpenNode], kind: NodeKind, value: Range<usize>) -> usize {
        let mut node = JsonNode { parent: None, index: 0, key: None, value: Some(value), kind, is_closed: false };
        if let Some(parent) = open.last_mut() {
            (node.parent, node.index, node.key) = (Some(parent.node), parent.items, parent.key.take());
            parent.items += 1;
            parent.colon = None;
        }
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Adds a node for a name without a value.
    fn missing(&mut self, object: &mut OpenNode, end: usize) {
        let Some(key) = object.key.take() else { return };
        let value = object.colon.take().map(|colon| colon..end);
        let (parent, kind) = (Some(object.node), NodeKind::Missing);
        self.nodes.push(JsonNode { parent, index: 0, key: Some(key), value, kind, is_closed: false });
    }

    fn close(&mut self, open: &mut Vec<OpenNode>, last: usize, end: usize, is_closed: bool) {
        let Some(mut closed) = open.pop() else { return };
        self.missing(&mut closed, last);
        if let Some(node) = self.nodes.get_mut(closed.node) {
            node.value = node.value.take().map(|value| value.start..end);
            node.is_closed = is_closed;
        }
    }

    /// Returns the innermost node whose name or value is at a byte offset; objects and arrays count only between their brackets.
    pub(super) fn at(&self, offset: usize) -> Option<usize> {
        let is_in = |range: &Range<usize>| range.start <= offset && offset <= range.end;
        self.nodes.iter().rposition(|node| {
            let is_value = node.value.as_ref().is_some_and(|value| match node.kind {
                NodeKind::Object | NodeKind::Array => {
                    value.start < offset && (offset < value.end || (offset == value.end && !node.is_closed))
                }
                _ => is_in(value),
            });
            is_value || node.key.as_ref().is_some_and(is_in)
        })
    }

    pub(super) fn node(&self, node: usize) -> Option<&JsonNode> {
        self.nodes.get(node)
    }

    /// Returns the names and indices that lead to a node.
    pub(super) fn steps(&self, node: usize) -> Vec<String> {
        let mut steps = Vec::new();
        let mut next = self.nodes.get(node);
        while let Some(node) = next {
            match (&node.key, node.parent) {
                (Some(key), _) => steps.push(self.name(key)),
                (None, Some(_)) => steps.push(node.index.to_string()),
                (None, None) => {}
            }
            next = node.parent.and_then(|parent| self.nodes.get(parent));
        }
        steps.reverse();
        steps
    }

    /// Returns the node to which the steps lead.
    pub(super) fn find(&self, steps: &[&str]) -> Option<usize> {
        let mut at = self.nodes.iter().position(|node| node.parent.is_none())?;
        for step in steps {
            at = self.nodes.iter().position(|node| {
                node.parent == Some(at) && node.key.as_ref().is_some_and(|key| self.name(key) == *step)
            })?;
        }
        Some(at)
    }

    pub(super) fn text_at(&self, steps: &[&str]) -> Option<String> {
        self.string(self.find(steps)?)
    }

    pub(super) fn string(&self, node: usize) -> Option<String> {
        let node = self.nodes.get(node).filter(|node| node.kind == NodeKind::Text)?;
        Some(self.name(node.value.as_ref()?))
    }

    pub(super) fn names(&self, object: usize) -> impl Iterator<Item = String> {
        let of_object = self.nodes.iter().filter(move |node| node.parent == Some(object));
        of_object.filter_map(|node| node.key.as_ref()).map(|key| self.name(key))
    }

    /// Returns what can be typed at a byte offset.
    pub(super) fn typing_spot(&self, offset: usize) -> Option<TypingSpot> {
        let node = self.at(offset)?;
        let found = self.nodes.get(node)?;
        if let (Some(key), Some(object)) = (&found.key, found.parent)
            && key.start <= offset
            && offset <= key.end
        {
            return Some(TypingSpot::Name { object, typed: self.typed(key, offset) });
        }
        let value = found.value.clone()?;
        let mut steps = self.steps(node);
        Some(match found.kind {
            NodeKind::Text | NodeKind::Word => TypingSpot::Value { steps, typed: self.typed(&value, offset) },
            NodeKind::Missing => TypingSpot::Value { steps, typed: offset..offset },
            NodeKind::Object => TypingSpot::Name { object: node, typed: offset..offset },
            NodeKind::Array => {
                steps.push("0".to_owned());
                TypingSpot::Value { steps, typed: offset..offset }
            }
        })
    }

    /// Returns the range of a token to replace: it ends at the offset if the rest looks like another token, since an unclosed
    /// string extends to the next quote.
    fn typed(&self, token: &Range<usize>, offset: usize) -> Range<usize> {
        let after = self.text.get(offset..token.end).unwrap_or_default();
        let after = if offset == token.start { after.strip_prefix('"').unwrap_or(after) } else { after };
        let after = after.strip_suffix('"').unwrap_or(after);
        let is_of_token = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        token.start..if after.chars().all(is_of_token) { token.end } else { offset }
    }

    /// Returns the text of a string token without its quotes.
    fn name(&self, range: &Range<usize>) -> String {
        let raw = self.text.get(range.clone()).unwrap_or_default();
        let bare = || raw.trim_matches('"').to_owned();
        serde_json::from_str(raw).unwrap_or_else(|_| bare())
    }
}

/// Returns the length of a string token, up to its closing quote or to the end of the line.
fn text_length(rest: &[u8]) -> usize {
    let mut is_escaped = false;
    for (at, byte) in rest.iter().enumerate() {
        match byte {
            b'\n' | b'\r' => return at,
            b'"' if !is_escaped => return at + 1,
            _ => is_escaped = *byte == b'\\' && !is_escaped,
        }
    }
    rest.len()
}

fn word_length(rest: &[u8]) -> usize {
    rest.iter().position(|byte| b" \t\r\n,:{}[]\"".contains(byte)).unwrap_or(rest.len())
}

/// Maximum number of nodes, more than any packet that people edit has.
const MOST_NODES: usize = 200_000;

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the spot at `|` in a text: its steps or those of its object, and the text to replace.
    #[track_caller]
    fn check(marked: &str, expect: Option<(&str, &str)>) {
        let offset = marked.find('|').unwrap_or_default();
        let text = marked.replacen('|', "", 1);
        let outline = JsonOutline::new(&text);
        let found = outline.typing_spot(offset).map(|spot| match spot {
            TypingSpot::Name { object, typed } => (format!("name in /{}", outline.steps(object).join("/")), typed),
            TypingSpot::Value { steps, typed } => (format!("value of /{}", steps.join("/")), typed),
        });
        let found = found.map(|(spot, typed)| (spot, text.get(typed).unwrap_or_default().to_owned()));
        assert_eq!(found, expect.map(|(spot, typed)| (spot.to_owned(), typed.to_owned())), "{marked}");
    }

    #[test]
    fn each_place_has_its_spot() {
        check("{|}", Some(("name in /", "")));
        check("|{}", None);
        check("{}|", None);
        check("{\"a\":1,|", Some(("name in /", "")));
        check("{\"a|\":1}", Some(("name in /", "\"a\"")));
        check("{\"a\": |}", Some(("value of /a", "")));
        check("{\"a\": {\"b\": \"c|\"}}", Some(("value of /a/b", "\"c\"")));
        check("{\"a\": [1, {\"b\": [|]}]}", Some(("value of /a/1/b/0", "")));
        check("{\"a\": [1, tr|]}", Some(("value of /a/1", "tr")));
        check("{\"a\": {\"b|", Some(("name in /a", "\"b")));
        check("", None);
    }

    #[test]
    fn what_is_not_complete_is_read_as_what_it_may_become() {
        // For want of a closing quote, the string extends to the opening quote of the next name.
        check("{\"a\": {\"b|, \"c\": 1}}", Some(("name in /a", "\"b")));
        check("{\"a\": \"b|, \"c\": 1}", Some(("value of /a", "\"b")));
        check("{\"a\" |\"b\": 1}", Some(("name in /", "\"b\"")));
        check("{\"a\": [{\"b\": 1}|", Some(("value of /a/0", "")));
        check("{\"a\": [{\"b\": 1}]|}", Some(("name in /", "")));
        check("{\"a\": {\"b\": 1], \"c|\": 2}", Some(("name in /a", "\"c\"")));
    }

    #[test]
    fn values_are_found_by_their_names() {
        let outline = JsonOutline::new("{\"a\": {\"\\u0062\": \"x\\\"y\"}, \"c\": [\"\\u00e9\"]}");
        assert_eq!(outline.text_at(&["a", "b"]).as_deref(), Some("x\"y"));
        assert_eq!(outline.text_at(&["c"]), None);
        assert_eq!(outline.names(0).collect::<Vec<_>>(), ["a", "c"]);
    }

    #[test]
    fn hostile_text_has_a_small_outline() {
        let deep = JsonOutline::new(&"[".repeat(1 << 20)).nodes.len();
        let wide = JsonOutline::new(&"1,".repeat(1 << 20)).nodes.len();
        assert!(deep <= usize::from(MAX_DEPTH) + 1 && wide <= MOST_NODES, "{deep} {wide}");
    }
}
