//! Hooks in JSON settings, with or without comments and trailing commas: added and removed by spans of the text.

use jsonc_parser::ast::{Object, Value as Node};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::tokens::{Token, TokenAndRange};
use serde::Serialize as _;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Map, Value};

use super::parts::{HOOKS, Parts, pointer};
use crate::jsonc::{parse, refuse_repeated};
use crate::text_edit::Edit;

pub(super) fn value(text: &str) -> Result<Value, String> {
    let body = body(text);
    if body.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    value_of(&parse(body)?.value.ok_or(NO_OBJECT)?)
}

/// Edits that put in the parts that are missing.
pub(super) fn insert(text: &str, missing: &Parts) -> Result<Vec<Edit>, String> {
    let body = body(text);
    let mark = text.len() - body.len();
    let break_ = if text.contains("\r\n") { "\r\n" } else { "\n" };
    if body.trim().is_empty() {
        let style = Style { break_, unit: "  ".to_owned(), is_one_line: false };
        let all = missing.added_to(&Value::Object(Map::new()))?;
        return Ok(vec![Edit::insert(mark, style.text(&all, Some("")) + break_)]);
    }
    let parsed = parse(body)?;
    let Some(Node::Object(root)) = &parsed.value else { return Err(NO_OBJECT.to_owned()) };
    refuse_repeated(root)?;
    let tokens = parsed.tokens.as_deref().unwrap_or_default();
    let style = Style::new(body, root, break_);
    let (mut top, mut edits) = (Vec::new(), Vec::new());
    for (name, value) in &missing.members {
        top.push((Some(name.as_str()), value.clone()));
    }
    let lists = missing.lists();
    match root.get(HOOKS).map(|hooks| &hooks.value) {
        None => {
            let events: Map<String, Value> = lists.into_iter().map(|(event, list)| (event, list.into())).collect();
            top.push((Some(HOOKS), events.into()));
        }
        Some(Node::Object(hooks)) => {
            refuse_repeated(hooks)?;
            let mut events = Vec::new();
            for (event, list) in &lists {
                match hooks.get(event).map(|list| &list.value) {
                    None => events.push((Some(event.as_str()), Value::from(list.clone()))),
                    Some(Node::Array(array)) => {
                        let items = list.iter().map(|element| (None, element.clone())).collect();
                        let ends: Vec<_> = array.elements.iter().map(|child| (child.start(), child.end())).collect();
                        edits.extend(style.append(body, tokens, array.start()..array.end(), &ends, items));
                    }
                    Some(_) => return Err(format!("`hooks.{event}`: expected an array")),
                }
            }
            edits.extend(style.append(body, tokens, hooks.start()..hooks.end(), &spans(hooks), events));
        }
        Some(_) => return Err(format!("`{HOOKS}`: expected an object")),
    }
    edits.extend(style.append(body, tokens, root.start()..root.end(), &spans(root), top));
    edits.sort_by_key(|edit| edit.span.start);
    edits.iter_mut().for_each(|edit| edit.span = edit.span.start + mark..edit.span.end + mark);
    Ok(edits)
}

/// Edits that take the parts out again, and the containers that were made for them, if nothing else is in these.
pub(super) fn remove(text: &str, parts: &Parts, made: &[String]) -> Result<Vec<Edit>, String> {
    let body = body(text);
    let mark = text.len() - body.len();
    let parsed = parse(body)?;
    let Some(Node::Object(root)) = &parsed.value else { return Err(NO_OBJECT.to_owned()) };
    let tokens = parsed.tokens.as_deref().unwrap_or_default();
    let mut edits = Vec::new();
    let mut without_hooks = false;
    if let Some(Node::Object(hooks)) = root.get(HOOKS).map(|hooks| &hooks.value) {
        let mut gone_events = Vec::new();
        for property in &hooks.properties {
            let event = property.name.as_str();
            let Node::Array(array) = &property.value else { continue };
            let mut ours: Vec<_> = parts.elements.iter().filter(|(of, _)| of == event).map(|(_, one)| one).collect();
            let mut gone = Vec::new();
            for child in &array.elements {
                let value = value_of(child)?;
                let at = ours.iter().position(|one| **one == value);
                gone.push(at.map(|at| ours.swap_remove(at)).is_some());
            }
            let is_made = made.contains(&pointer(Some(event)));
            gone_events.push(is_made && gone.iter().all(|gone| *gone));
            if gone_events.last() == Some(&false) {
                let ends: Vec<_> = array.elements.iter().map(|child| (child.start(), child.end())).collect();
                edits.extend(cut(body, tokens, &ends, &gone));
            }
        }
        without_hooks = made.contains(&pointer(None)) && gone_events.len() == hooks.properties.len();
        without_hooks &= gone_events.iter().all(|gone| *gone);
        if !without_hooks {
            edits.extend(cut(body, tokens, &spans(hooks), &gone_events));
        }
    }
    let is_gone = |name: &str| (name == HOOKS && without_hooks) || parts.members.contains_key(name);
    let gone: Vec<_> = root.properties.iter().map(|property| is_gone(property.name.as_str())).collect();
    if without_hooks {
        edits.clear();
    }
    edits.extend(cut(body, tokens, &spans(root), &gone));
    edits.sort_by_key(|edit| edit.span.start);
    edits.iter_mut().for_each(|edit| edit.span = edit.span.start + mark..edit.span.end + mark);
    Ok(edits)
}

/// Removes children of a container, each run of them with a comma.
fn cut(text: &str, tokens: &[TokenAndRange<'_>], children: &[(usize, usize)], gone: &[bool]) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    let mut at = 0;
    while at < gone.len() {
        if gone.get(at) != Some(&true) {
            at += 1;
            continue;
        }
        let end = gone.iter().skip(at).position(|gone| !gone).map_or(gone.len(), |count| at + count);
        let (Some(first), Some(last)) = (children.get(at), children.get(end - 1)) else { return edits };
        let start = text.get(..first.0).unwrap_or_default().trim_end().len();
        match (comma(tokens, last.1), at.checked_sub(1).and_then(|before| comma(tokens, children.get(before)?.1))) {
            (Some(comma), _) => edits.push(Edit { span: start..comma.1, text: String::new() }),
            (None, Some((comma, after))) if after == start => {
                edits.push(Edit { span: comma..last.1, text: String::new() });
            }
            (None, before) => {
                edits.extend(before.map(|(comma, after)| Edit { span: comma..after, text: String::new() }));
                edits.push(Edit { span: start..last.1, text: String::new() });
            }
        }
        at = end;
    }
    edits
}

/// Comma that is the next token after an offset.
fn comma(tokens: &[TokenAndRange<'_>], after: usize) -> Option<(usize, usize)> {
    let next = tokens.get(tokens.partition_point(|token| token.start() < after))?;
    matches!(next.token, Token::Comma).then(|| (next.start(), next.end()))
}

fn spans(object: &Object<'_>) -> Vec<(usize, usize)> {
    object.properties.iter().map(|property| (property.start(), property.end())).collect()
}

/// Layout of a file, which additions follow.
struct Style {
    break_: &'static str,
    unit: String,
    is_one_line: bool,
}

impl Style {
    fn new(text: &str, root: &Object<'_>, break_: &'static str) -> Self {
        let first = root.properties.first().and_then(|property| indent_before(text, property.start()));
        let own = indent_of_line(text, root.start());
        let unit = first.and_then(|first| first.strip_prefix(own)).filter(|unit| !unit.is_empty()).unwrap_or("  ");
        let is_one_line =
            !root.properties.is_empty() && !text.get(root.start()..root.end()).is_some_and(|text| text.contains('\n'));
        Self { break_, unit: unit.to_owned(), is_one_line }
    }

    /// Text of a value: on lines that are indented, or on one.
    fn text(&self, value: &Value, indent: Option<&str>) -> String {
        let Some(indent) = indent else { return value.to_string() };
        let mut bytes = Vec::new();
        let mut writer = Serializer::with_formatter(&mut bytes, PrettyFormatter::with_indent(self.unit.as_bytes()));
        // A value of strings and numbers is written to memory.
        let _ = value.serialize(&mut writer);
        String::from_utf8_lossy(&bytes).replace('\n', &format!("{}{indent}", self.break_))
    }

    /// Appends children to a container, after what it has.
    fn append(
        &self,
        text: &str,
        tokens: &[TokenAndRange<'_>],
        container: std::ops::Range<usize>,
        children: &[(usize, usize)],
        added: Vec<(Option<&str>, Value)>,
    ) -> Vec<Edit> {
        if added.is_empty() {
            return Vec::new();
        }
        let inner = container.start + 1..container.end - 1;
        let inside = text.get(inner.clone()).unwrap_or_default();
        // After the last token or comment.
        let end = inner.start + inside.trim_end().len();
        let has_lines = inside.contains('\n');
        let own = indent_of_line(text, container.start);
        let child = children.first().and_then(|first| indent_before(text, first.0));
        let child = child.map_or_else(|| format!("{own}{}", self.unit), str::to_owned);
        let is_inline = self.is_one_line || (!children.is_empty() && !has_lines);
        let indent = (!is_inline).then_some(child.as_str());
        let (before, colon) = match indent {
            Some(indent) => (format!("{}{indent}", self.break_), ": "),
            None => (" ".to_owned(), ":"),
        };
        let colon = if self.is_one_line && !text.contains("\": ") { colon } else { ": " };
        let items = added.iter().map(|(name, value)| match name {
            Some(name) => format!("{}{colon}{}", Value::from(*name), self.text(value, indent)),
            None => self.text(value, indent),
        });
        let items = items.collect::<Vec<_>>().join(&format!(",{before}"));
        let Some(last) = children.last() else {
            let (before, after) = match (is_inline, has_lines) {
                (true, _) => ("", String::new()),
                (false, true) => (before.as_str(), String::new()),
                (false, false) => (before.as_str(), format!("{}{own}", self.break_)),
            };
            return vec![Edit::insert(end, format!("{before}{items}{after}"))];
        };
        match comma(tokens, last.1) {
            Some(_) => vec![Edit::insert(end, format!("{before}{items},"))],
            None if end == last.1 => vec![Edit::insert(end, format!(",{before}{items}"))],
            None => vec![Edit::insert(last.1, ","), Edit::insert(end, format!("{before}{items}"))],
        }
    }
}

/// Blanks between the beginning of a line and an offset, if there is nothing else.
fn indent_before(text: &str, at: usize) -> Option<&str> {
    let line = text.get(..at)?.rsplit_once('\n')?.1;
    line.trim_matches([' ', '\t']).is_empty().then_some(line)
}

/// Indentation of the line of an offset.
fn indent_of_line(text: &str, at: usize) -> &str {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rsplit_once('\n').map_or(before, |(_, line)| line);
    line.get(..line.len() - line.trim_start_matches([' ', '\t']).len()).unwrap_or_default()
}

fn body(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn value_of(node: &Node<'_>) -> Result<Value, String> {
    Ok(match node {
        Node::StringLit(text) => text.value.as_ref().into(),
        Node::NumberLit(number) => {
            serde_json::from_str(number.value).map_err(|_| format!("invalid number `{}`", number.value))?
        }
        Node::BooleanLit(boolean) => boolean.value.into(),
        Node::NullKeyword(_) => Value::Null,
        Node::Array(array) => array.elements.iter().map(value_of).collect::<Result<Vec<_>, _>>()?.into(),
        Node::Object(object) => {
            let member = |property: &jsonc_parser::ast::ObjectProp<'_>| {
                Ok((property.name.as_str().to_owned(), value_of(&property.value)?))
            };
            object.properties.iter().map(member).collect::<Result<Map<_, _>, String>>()?.into()
        }
    })
}

const NO_OBJECT: &str = "expected a JSON object";
