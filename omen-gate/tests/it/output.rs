//! PG-4: typed values, or the raw answer.

mod subset;

use omen_gate::catalog::{Catalog, Listed};
use omen_gate::output::{BadOutput, Outputs, TypedAnswer, UntypedAnswer};
use omen_gate::tool::Answer;
use omen_gate::{GateCode, ServerName, ToolId, ToolName};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub(crate) fn id() -> ToolId {
    ToolId { server: ServerName::new("s").unwrap(), tool: ToolName::new("t").unwrap() }
}

pub(crate) fn catalog(output_schema: Option<&Value>) -> Catalog {
    let mut tool = json!({"name": "t", "inputSchema": {"type": "object"}});
    if let Some(schema) = output_schema {
        tool["outputSchema"] = schema.clone();
    }
    Catalog::parse(&json!({"s": [tool]}).to_string()).unwrap()
}

pub(crate) fn listed(catalog: &Catalog) -> &Listed {
    catalog.find(&id()).unwrap()
}

pub(crate) fn answer(content: Value) -> Answer {
    Answer { structured_content: Some(content), ..Answer::default() }
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Note {
    title: String,
    stars: Option<u8>,
}

fn promise() -> Value {
    json!({
        "type": "object",
        "properties": {"title": {"type": "string"}, "stars": {"type": "integer", "minimum": 1, "maximum": 5}},
        "required": ["title"],
    })
}

fn typed<T: DeserializeOwned + JsonSchema + 'static>(
    output_schema: Option<&Value>,
    answer: Answer,
) -> Result<TypedAnswer<T>, Box<UntypedAnswer>> {
    let catalog = catalog(output_schema);
    let mut outputs = Outputs::default();
    outputs.register::<T>(id()).unwrap();
    outputs.type_output::<T>(listed(&catalog), answer)
}

#[track_caller]
fn raw(result: Result<TypedAnswer<Note>, Box<UntypedAnswer>>, message: &str) {
    let untyped = result.unwrap_err();
    assert_eq!(untyped.why().code, GateCode::Pg4);
    assert_eq!(untyped.why().message, message);
    assert_eq!(untyped.to_string(), format!("typed parsing blocked: PG-4: {message}"));
}

#[test]
fn a_typed_value_has_its_canonical_text() {
    let typed = typed::<Note>(Some(&promise()), answer(json!({"title": "a \"b\"", "stars": 3.0}))).unwrap();
    assert_eq!(typed.text(), r#"{"stars":3,"title":"a \"b\""}"#);
    assert_eq!(typed.tool(), &id());
    assert_eq!(typed.value().title, "a \"b\"");
}

#[test]
fn the_raw_answer_comes_back_as_it_came() {
    let raw = Answer {
        content: vec![json!({"type": "text", "text": "oops"})],
        structured_content: Some(json!({"title": 1})),
        is_error: Some(false),
        ..Answer::default()
    };
    let untyped = typed::<Note>(Some(&promise()), raw.clone()).unwrap_err();
    assert_eq!(untyped.answer(), &raw);
    let (answer, why) = untyped.into_parts();
    assert_eq!((answer, why.code), (raw, GateCode::Pg4));
}

#[test]
fn each_condition_is_asked_for() {
    let good = || json!({"title": "a", "stars": 3});
    let failed = Answer { is_error: Some(true), ..answer(good()) };
    raw(typed(Some(&promise()), failed), "the tool `s/t` reports an error (`isError`)");
    let text = Answer { content: vec![json!({"type": "text", "text": good().to_string()})], ..Answer::default() };
    raw(typed(Some(&promise()), text), "the answer of `s/t` has no `structuredContent`");
    // The tool promises five stars at most; the type would accept more.
    raw(
        typed(Some(&promise()), answer(json!({"title": "a", "stars": 6}))),
        "the answer of `s/t` does not match its `outputSchema`: `/stars`: 6 is greater than the maximum of 5",
    );
    // Without a promise, only the type is checked.
    raw(
        typed(None, answer(json!({"title": "a", "stars": 256}))),
        "the answer of `s/t` does not match its registered type: `/stars`: 256 is greater than the maximum of 255",
    );
    assert_eq!(
        typed::<Note>(None, answer(good())).unwrap().into_value(),
        Note { title: "a".to_owned(), stars: Some(3) }
    );
    for null in [json!(null), json!([]), json!("x")] {
        typed::<Note>(None, answer(null)).unwrap_err();
    }
}

#[test]
fn the_type_has_to_be_the_one_that_is_registered() {
    let catalog = catalog(None);
    let outputs = Outputs::default();
    raw(
        outputs.type_output(listed(&catalog), answer(json!({"title": "a"}))),
        "no type is registered for the answers of `s/t`",
    );
    let mut outputs = Outputs::default();
    outputs.register::<Other>(id()).unwrap();
    let untyped = outputs.type_output::<Note>(listed(&catalog), answer(json!({"title": "a"}))).unwrap_err();
    assert!(untyped.why().message.contains("`it::output::Other`, not `it::output::Note`"), "{untyped}");

    let error = outputs.register::<Note>(id()).unwrap_err();
    assert_eq!(error, BadOutput::Twice { tool: id(), name: "it::output::Other" });
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Other {
    #[expect(dead_code, reason = "only its schema counts")]
    title: String,
}

#[test]
fn what_the_type_itself_refuses_is_not_typed() {
    /// Type whose schema does not have all the requirements of its deserializer.
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Narrow {
        #[expect(dead_code, reason = "only reading counts")]
        n: i8,
        #[expect(dead_code, reason = "only reading counts")]
        #[schemars(with = "String")]
        at: std::net::Ipv4Addr,
    }
    let untyped = typed::<Narrow>(None, answer(json!({"n": 1, "at": "nowhere"}))).unwrap_err();
    assert!(untyped.why().message.contains("Narrow`: invalid IPv4 address"), "{untyped}");
}

#[test]
fn a_number_without_exact_text_is_not_typed() {
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Big {
        #[expect(dead_code, reason = "only reading counts")]
        n: u64,
    }
    typed::<Big>(None, answer(json!({"n": 9_007_199_254_740_991_u64}))).unwrap();
    let untyped = typed::<Big>(None, answer(json!({"n": 9_007_199_254_740_993_u64}))).unwrap_err();
    assert!(untyped.why().message.contains("has no canonical JSON form: the number `9007199254740993`"), "{untyped}");
}

/// The comparison is repeated for each answer: a server may change its schema at any time.
#[test]
fn a_promise_that_has_changed_is_compared_again() {
    let mut outputs = Outputs::default();
    outputs.register::<Note>(id()).unwrap();
    let before = catalog(Some(&promise()));
    outputs.check(listed(&before)).unwrap();
    let mut wider = promise();
    wider["properties"]["title"]["type"] = json!(["string", "null"]);
    let after = catalog(Some(&wider));
    let message = "the type `it::output::Note` does not accept every answer that `s/t` may give: `/title` may be null, which the \
                   type does not accept";
    assert_eq!(outputs.check(listed(&after)).unwrap_err().message, message);
    raw(outputs.type_output(listed(&after), answer(json!({"title": "a"}))), message);

    let broken = catalog(Some(&json!({"type": "objekt"})));
    let blocked = outputs.check(listed(&broken)).unwrap_err();
    assert!(blocked.message.starts_with("the `outputSchema` of `s/t` cannot be used: "), "{blocked}");
}

/// The server controls both the promise and the answer.
#[test]
fn an_answer_that_would_take_too_long_to_judge_is_not_typed() {
    let three = vec![json!({"$ref": "#/$defs/n"}); 3];
    let mut schema = promise();
    schema["properties"]["x"] = json!({"$ref": "#/$defs/n"});
    schema["$defs"] = json!({"n": {"items": {"allOf": three}}});
    let nested = |levels: usize| (0..levels).fold(json!([]), |inner, _| json!([inner]));
    typed::<Note>(Some(&schema), answer(json!({"title": "a", "x": nested(3)}))).unwrap();
    let untyped = typed::<Note>(Some(&schema), answer(json!({"title": "a", "x": nested(28)}))).unwrap_err();
    assert!(untyped.why().message.contains("validating it would take more than 4000000 steps"), "{untyped}");

    // A long list, as an honest tool may answer, is checked.
    let mut schema = promise();
    schema["properties"]["notes"] = json!({"items": promise()});
    let notes = vec![json!({"title": "a title", "stars": 3}); 40_000];
    typed::<Note>(Some(&schema), answer(json!({"title": "a", "notes": notes}))).unwrap();
}
