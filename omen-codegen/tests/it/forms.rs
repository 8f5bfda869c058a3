//! Forms that typify would declare differently from their meaning, unless the conversion to draft 7 rewrites them.
//! `lint/cases.txt` has those on which it fails.

use omen_codegen::emit::{self, Lens};
use serde_json::{Value, json};

#[test]
fn lists_are_vectors_and_an_empty_one_is_not_an_absent_one() {
    let list = |least: u64, most: u64| json!({ "description": "A list.", "type": "array", "items": { "type": "string" }, "minItems": least, "maxItems": most });
    let declared =
        declared(json!({}), json!({ "pair": list(2, 2), "many": list(0, 5_000_000_000) }), "ObservationPayload");
    let present = "#[serde(default,skip_serializing_if=\"Option::is_none\",deserialize_with=\"present\")]";
    assert!(declared.contains(&format!("{present}pubpair:Option<Vec<String>>,")), "{declared}");
    assert!(declared.contains(&format!("{present}pubmany:Option<Vec<String>>,")), "{declared}");
}

#[test]
fn a_default_does_not_make_a_member_required() {
    let member = json!({ "description": "A word.", "type": "string", "default": "x" });
    let declared = declared(json!({}), json!({ "word": member }), "ObservationPayload");
    assert!(declared.contains("pubword:Option<String>,"), "{declared}");
}

#[test]
fn members_have_the_names_that_builders_have() {
    let members = json!({ "type": text(), "gen": text(), "self": text(), "x_1": text(), "x1_y2": text() });
    let declared = declared(json!({}), members, "ObservationPayload");
    let present = "#[serde(default,skip_serializing_if=\"Option::is_none\",deserialize_with=\"present\")]";
    for member in ["r#type", "r#gen", "x_1", "x1_y2"] {
        let expected = format!("#[doc=\"Atext.\"]{present}pub{member}:Option<String>,");
        assert!(declared.contains(&expected), "{member}: {declared}");
    }
    assert!(declared.contains(&format!("#[serde(rename=\"self\")]{present}pubself_:Option<String>,")), "{declared}");
}

#[test]
fn any_name_of_a_value_is_one_of_a_variant() {
    let values = ["self", "HTTPRequest", "a1b", "aB", "x_1", "null", "Y2_k"];
    let branch = |wire| json!({ "type": "string", "enum": [wire], "description": "A value." });
    let odd = json!({ "Odd": { "description": "O.", "oneOf": values.map(branch) } });
    let declared = declared(odd, json!({ "odd": reference("Odd") }), "Odd");
    for (wire, name) in values.iter().zip(["Self_", "HttpRequest", "A1b", "AB", "X1", "Null", "Y2K"]) {
        assert!(declared.contains(&format!("#[serde(rename=\"{wire}\")]{name},")), "{name}: {declared}");
    }
}

#[test]
fn an_enum_of_one_value_is_an_enum() {
    let only = json!({ "type": "string", "enum": ["only"], "description": "A value." });
    let one = json!({ "One": { "description": "O.", "oneOf": [only] } });
    let declared = declared(one, json!({ "one": reference("One") }), "One");
    assert!(declared.contains("pubenumOne{#[doc=\"`only`:Avalue.\"]#[serde(rename=\"only\")]Only,}"), "{declared}");
}

#[test]
fn an_object_without_members_is_a_struct() {
    let empty = json!({ "description": "E.", "type": "object", "additionalProperties": false, "properties": {} });
    let declared = declared(json!({ "Empty": empty }), json!({ "empty": reference("Empty") }), "Empty");
    assert!(declared.contains("pubstructEmpty{}"), "{declared}");
}

#[test]
fn variants_of_a_union_have_what_is_not_common_to_the_names_of_all() {
    let number = json!({ "description": "A number.", "type": "number" });
    let union = |branches: [&str; 2]| {
        let branches = branches.map(|name| json!({ "$ref": format!("#/$defs/{name}") }));
        json!({ "description": "U.", "oneOf": branches })
    };
    let own = json!({ "PriceText": text(), "PriceNumber": number, "Price": union(["PriceText", "PriceNumber"]) });
    let declared_union = declared(own, json!({ "price": reference("Price") }), "Price");
    assert!(declared_union.contains("Text(PriceText),"), "{declared_union}");
    let replaced = json!({ "When": union(["Timestamp", "JsonObject"]) });
    let declared_union = declared(replaced, json!({ "when": reference("When") }), "When");
    assert!(declared_union.contains("Timestamp(Timestamp),"), "{declared_union}");
    assert!(declared_union.contains("JsonObject(::serde_json::Map<String,::serde_json::Value>),"), "{declared_union}");
}

/// Returns the declaration of a type, without spaces, after the definitions and the optional members of an observation
/// are added to the real files.
#[track_caller]
fn declared(definitions: Value, members: Value, of: &str) -> String {
    let mut files: Vec<_> = omen_schema::FILES.iter().map(|(path, text)| (*path, (*text).to_owned())).collect();
    for (path, pointer, added) in [
        ("common.schema.json", "/$defs", definitions),
        ("packets/ObservationPacket.schema.json", "/$defs/ObservationPayload/properties", members),
    ] {
        let (_, text) = files.iter_mut().find(|(file, _)| *file == path).unwrap();
        let mut json: Value = serde_json::from_str(text).unwrap();
        let Value::Object(added) = added else { panic!("{added} has no members") };
        json.pointer_mut(pointer).unwrap().as_object_mut().unwrap().extend(added);
        *text = json.to_string();
    }
    let model = omen_codegen::model(files.iter().map(|(path, text)| (*path, text.as_str())))
        .unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let source = emit::definition(&model, &Lens::default(), of).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let is_it = |item: &syn::Item| match item {
        syn::Item::Struct(item) => item.ident == of,
        syn::Item::Enum(item) => item.ident == of,
        _ => false,
    };
    let item = syn::parse_file(source.as_str()).unwrap().items.into_iter().find(is_it).unwrap();
    quote::ToTokens::to_token_stream(&item).to_string().replace(' ', "")
}

fn text() -> Value {
    json!({ "description": "A text.", "type": "string" })
}

fn reference(name: &str) -> Value {
    json!({ "description": "A reference.", "$ref": format!("../common.schema.json#/$defs/{name}") })
}
