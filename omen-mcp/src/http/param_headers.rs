//! Arguments that a request repeats in its headers (2026-07-28), as specified by the tool's schema (`x-mcp-header`).

use std::collections::{BTreeMap, BTreeSet};

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use omen_base::Mutex;
use omen_base::bounded;
use serde_json::{Map, Value};

use crate::frame::Frame;
use crate::http::mcp_headers::{PARAM, encoded};
use crate::json;

/// Annotations of the tools that a server listed last.
#[derive(Debug, Default)]
pub struct Params(Mutex<BTreeMap<String, HeaderAnnotations>>);

/// Header annotations in a tool's schema: names and positions of the values; or why the schema cannot be followed.
type HeaderAnnotations = Result<Vec<(HeaderName, Vec<String>)>, String>;

/// Maximum number of tools remembered.
const MOST: usize = 10_000;
/// Maximum depth to which properties are read.
const DEEPEST: usize = 32;

impl Params {
    /// Reads the annotations in a passing page of `tools/list`. Invalid pages are left for others to refuse.
    pub fn learn(&self, page: &Frame) {
        let Some(body) = page.body().and_then(|body| json::object(page.text(), body).ok()) else { return };
        let Some(Value::Array(tools)) = body.get("tools") else { return };
        let mut known = self.0.lock();
        for tool in tools {
            let Some(name) = tool.get("name").and_then(Value::as_str) else { continue };
            let annotated = match tool.get("inputSchema") {
                Some(Value::Object(schema)) => annotations(schema),
                _ => Ok(Vec::new()),
            };
            if known.len() >= MOST {
                known.clear();
            }
            match &annotated {
                Ok(none) if none.is_empty() => drop(known.remove(name)),
                _ => drop(known.insert(name.to_owned(), annotated)),
            }
        }
    }

    /// Returns the headers of a call.
    ///
    /// # Errors
    /// If the tool's schema or the arguments cannot be followed. The call must then not be sent.
    pub fn headers(&self, call: &Frame) -> Result<HeaderMap, String> {
        let mut headers = HeaderMap::new();
        let members = call.members().map_err(|flaw| flaw.to_string())?;
        let get = |key: &str| members.iter().find(|member| member.key == key).map(|member| member.span.clone());
        let Some(name) = get("name").and_then(|span| json::text(call.text(), span)) else { return Ok(headers) };
        let known = self.0.lock();
        let Some(annotated) = known.get(&name) else { return Ok(headers) };
        let annotated = annotated.as_ref().map_err(Clone::clone)?;
        let Some(args) = get("arguments") else { return Ok(headers) };
        let args = json::object(call.text(), args)?;
        for (header, path) in annotated {
            let text = match at(&args, path) {
                None | Some(Value::Null) => continue,
                Some(Value::String(text)) => text.clone(),
                Some(Value::Bool(yes)) => yes.to_string(),
                Some(Value::Number(number)) if number.is_i64() || number.is_u64() => number.to_string(),
                Some(_) => return Err(format!("the argument for the header `{header}` cannot be sent in a header")),
            };
            let value = HeaderValue::from_str(&encoded(&text)).map_err(|error| error.to_string())?;
            headers.insert(header.clone(), value);
        }
        Ok(headers)
    }
}

fn at<'a>(args: &'a Map<String, Value>, path: &[String]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(args.get(first)?, |value, key| value.get(key))
}

/// Returns the annotations of a schema, which are allowed only in places reached through `properties` alone.
fn annotations(schema: &Map<String, Value>) -> HeaderAnnotations {
    let (mut found, mut reached) = (Vec::new(), 0);
    walk(schema, &mut Vec::new(), &mut found, &mut reached)?;
    let everywhere = count(&Value::Object(schema.clone()));
    if everywhere != reached {
        return Err("its schema has `x-mcp-header` where it is not allowed".to_owned());
    }
    let names: BTreeSet<_> = found.iter().map(|(name, _)| name.as_str()).collect();
    if names.len() != found.len() {
        return Err("its schema names a header twice (`x-mcp-header`)".to_owned());
    }
    Ok(found)
}

fn walk(
    schema: &Map<String, Value>,
    path: &mut Vec<String>,
    found: &mut Vec<(HeaderName, Vec<String>)>,
    reached: &mut usize,
) -> Result<(), String> {
    let Some(Value::Object(properties)) = schema.get("properties").filter(|_| path.len() < DEEPEST) else {
        return Ok(());
    };
    for (key, property) in properties {
        let Value::Object(property) = property else { continue };
        path.push(key.clone());
        if let Some(name) = property.get(ANNOTATION) {
            *reached += 1;
            let shown = bounded(&name.to_string());
            let name = name.as_str().filter(|name| !name.is_empty());
            let name = name.and_then(|name| HeaderName::from_bytes(format!("{PARAM}{name}").as_bytes()).ok());
            let name = name.ok_or_else(|| format!("its schema has the invalid `x-mcp-header` {shown}"))?;
            let kind = property.get("type").and_then(Value::as_str).unwrap_or_default();
            if !["string", "integer", "boolean"].contains(&kind) {
                return Err(format!("`x-mcp-header` {shown} is not on a string, an integer or a boolean"));
            }
            found.push((name, path.clone()));
        }
        walk(property, path, found, reached)?;
        path.pop();
    }
    Ok(())
}

/// Counts all occurrences of the annotation in a schema. A property with that name is not an annotation.
fn count(schema: &Value) -> usize {
    match schema {
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| match (key.as_str(), value) {
                (ANNOTATION, _) => 1,
                ("properties", Value::Object(properties)) => properties.values().map(count).sum(),
                ("const" | "default" | "enum" | "examples", _) => 0,
                _ => count(value),
            })
            .sum(),
        Value::Array(items) => items.iter().map(count).sum(),
        _ => 0,
    }
}

const ANNOTATION: &str = "x-mcp-header";

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use serde_json::{Value, json};

    use super::Params;
    use crate::frame::Frame;

    fn headers(schema: &Value, args: &Value) -> Result<Vec<(String, String)>, String> {
        let params = Params::default();
        let page = json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "t", "inputSchema": schema}]}});
        params.learn(&Frame::read(page.to_string().into_bytes()).unwrap());
        let call =
            json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "t", "arguments": args}});
        let headers = params.headers(&Frame::read(call.to_string().into_bytes()).unwrap())?;
        Ok(headers.iter().map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect())
    }

    #[test]
    fn annotated_arguments_become_headers() {
        let at = |kind: &str, name: &str| json!({"type": kind, "x-mcp-header": name});
        let schema = json!({"type": "object", "properties": {
            "region": at("string", "Region"), "n": at("integer", "N"), "yes": at("boolean", "Yes"),
            "in": {"type": "object", "properties": {"x-mcp-header": at("string", "Deep")}}, "plain": {"type": "string"}}});
        let args = json!({"region": "\u{e9}", "n": -7, "yes": true, "in": {"x-mcp-header": "d"}, "plain": "p"});
        let got = headers(&schema, &args).unwrap();
        let want = [
            ("mcp-param-region", "=?base64?w6k=?="),
            ("mcp-param-n", "-7"),
            ("mcp-param-yes", "true"),
            ("mcp-param-deep", "d"),
        ];
        for (name, value) in want {
            assert!(got.contains(&(name.to_owned(), value.to_owned())), "{name}: {got:?}");
        }
        assert_eq!(got.len(), want.len());
        assert_eq!(headers(&schema, &json!({"region": null})).unwrap(), []);
        assert!(headers(&schema, &json!({"n": 1.5})).is_err());
    }

    #[test]
    fn an_annotation_that_cannot_be_followed_keeps_the_call_from_being_sent() {
        let one = |property: Value| json!({"type": "object", "properties": {"a": property}});
        for schema in [
            one(json!({"type": "string", "x-mcp-header": ""})),
            one(json!({"type": "string", "x-mcp-header": "a b"})),
            one(json!({"type": "string", "x-mcp-header": "a\r\nb"})),
            one(json!({"type": "string", "x-mcp-header": 7})),
            one(json!({"type": "number", "x-mcp-header": "A"})),
            one(json!({"x-mcp-header": "A"})),
            one(json!({"type": "array", "items": {"type": "string", "x-mcp-header": "A"}})),
            json!({"type": "object", "anyOf": [one(json!({"type": "string", "x-mcp-header": "A"}))]}),
            json!({"type": "object", "$defs": {"d": {"type": "string", "x-mcp-header": "A"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A"},
                "b": {"type": "string", "x-mcp-header": "a"}}}),
        ] {
            assert!(headers(&schema, &json!({"a": "x"})).is_err(), "{schema}");
        }
    }
}
