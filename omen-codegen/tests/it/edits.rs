//! Edits of the schema as its maintainers make them: each either propagates to all generated code, or is refused with a
//! fix, and propagates once that fix is made.
//!
//! `schema_change` compiles whatever only the compiler can prove.

use std::collections::BTreeMap;
use std::path::Path;

use omen_codegen::emit::{self, Lens, Markers, Setters};
use omen_codegen::mistake::Mistakes;
use serde_json::{Value, json};

const DIRECTIVE: &str = "packets/TaskDirectivePacket.schema.json";
const OBSERVATION: &str = "packets/ObservationPacket.schema.json";
const ESCALATION: &str = "packets/EscalationPacket.schema.json";
const HEADER: &str = "header/PacketHeader.schema.json";
const NOTE: &str = "packets/NotePacket.schema.json";
const FSM: &str = "episode.fsm.json";
const RULES: &str = "rules.json";
const SETTERS: &str = "setters.json";

/// Schema files and list of setters, for editing.
#[derive(Clone)]
struct Schema(BTreeMap<String, Value>);

/// Returns files with all compatible additions at once, by path: an optional member in every object of a packet, enum
/// values, an identifier, a list of a union, a tool class, a packet type, a row, a conditional.
pub(super) fn additions() -> Vec<(String, String)> {
    let mut schema = Schema::real();
    let files: Vec<String> = schema.0.keys().cloned().collect();
    for file in files.iter().filter(|file| file.ends_with(".schema.json")) {
        let json = schema.0.get_mut(file).unwrap();
        let (root, definitions) = (json["title"].as_str().unwrap().to_owned(), json.get_mut("$defs"));
        for (name, definition) in definitions.into_iter().flat_map(|all| all.as_object_mut().unwrap()) {
            more(name, definition);
        }
        if !file.starts_with("packets/") {
            more(&root, json);
        }
    }
    schema.add("packets/IntegrityAlertPacket.schema.json", "/$defs/AlertType/oneOf", "", value("drill", "A drill."));
    add_packet_file(&mut schema);
    list_packet(&mut schema);
    schema.add(SETTERS, "/elsewhere", "NotePayload", "no move sends notes".into());
    add_tool_class(&mut schema);
    let_it_read(&mut schema);
    add_clues(&mut schema);
    schema.add(FSM, "/rows", "", escalate_from_sense());
    let mut files = Vec::new();
    for (file, json) in schema.0 {
        let folder = if file == SETTERS { "omen-fsm" } else { "schema/v0.7" };
        files.push((format!("{folder}/{file}"), format!("{json:#}")));
    }
    files
}

/// Adds an optional member with a unique name to an object.
fn more(name: &str, definition: &mut Value) {
    if let Some(members) = definition.get_mut("properties").and_then(Value::as_object_mut) {
        members.insert(format!("more_of_{}", name.to_lowercase()), text("A word more."));
    }
}

/// Generated code, by part, with single spaces between words.
struct Made(BTreeMap<&'static str, String>);

impl Schema {
    fn real() -> Self {
        let files = omen_schema::FILES.iter().copied();
        let all = files.chain([(SETTERS, include_str!("../../../omen-fsm/setters.json"))]);
        Self(all.map(|(file, text)| (file.to_owned(), serde_json::from_str(text).unwrap())).collect())
    }

    #[track_caller]
    fn at(&mut self, file: &str, pointer: &str) -> &mut Value {
        let file = self.0.get_mut(file).unwrap();
        file.pointer_mut(pointer).unwrap_or_else(|| panic!("nothing at {pointer}"))
    }

    /// Adds a member to an object or an element to a list.
    #[track_caller]
    fn add(&mut self, file: &str, pointer: &str, key: &str, value: Value) -> &mut Self {
        match self.at(file, pointer) {
            Value::Object(members) => drop(members.insert(key.to_owned(), value)),
            Value::Array(elements) => elements.push(value),
            other => panic!("{other} has no parts"),
        }
        self
    }

    /// Returns the index of the list element whose member `key` is `is`.
    #[track_caller]
    fn place(&self, file: &str, list: &str, key: &str, is: &str) -> usize {
        let list = self.0[file].pointer(list).and_then(Value::as_array).unwrap();
        list.iter().position(|element| element[key] == is).unwrap_or_else(|| panic!("no {key} is {is}"))
    }

    /// Generates everything that the build scripts generate.
    fn made(&self) -> Result<Made, Mistakes> {
        let files: Vec<(&str, String)> = self
            .0
            .iter()
            .filter(|(file, _)| *file != SETTERS)
            .map(|(file, json)| (file.as_str(), json.to_string()))
            .collect();
        let model = omen_codegen::model(files.iter().map(|(file, text)| (*file, text.as_str())))?;
        let lens = Lens::parse(include_str!("../../../omen-types/lens.json"))?;
        let markers = Markers::parse(include_str!("../../../omen-invariants/facts.json"))?;
        let setters = Setters::parse(&self.0[SETTERS].to_string())?;
        let moves = Path::new(env!("CARGO_MANIFEST_DIR")).join("../omen-fsm/src/episode/moves");
        let moves = emit::functions(&moves).unwrap();
        let parts = [
            ("types", emit::types(&model, &lens)?),
            ("codes", emit::codes(&model)?),
            ("markers", emit::markers(&model, &markers)?),
            ("predicates", emit::predicates(&model, &markers)?),
            ("machine", emit::fsm(&model)?),
            ("setters", emit::setters(&model, &setters)?),
            ("episode", emit::episode(&model, &moves)?),
        ];
        let spaced = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(Made(parts.into_iter().map(|(part, source)| (part, spaced(source.as_str()))).collect()))
    }

    /// Asserts that exactly these edits are refused, each at its location and with its fix.
    #[track_caller]
    fn is_refused(&self, with: &[(&str, &str, &str)]) {
        let Err(mistakes) = self.made() else { panic!("the edit is not refused") };
        let found: Vec<_> = mistakes.iter().collect();
        for (file, pointer, says) in with {
            let is_it = found.iter().any(|mistake| {
                (mistake.file.as_str(), mistake.pointer.as_str()) == (*file, *pointer)
                    && mistake.to_string().contains(says)
            });
            assert!(is_it, "{file}#{pointer}: {says}\nis not among\n{mistakes}");
        }
        assert_eq!(found.len(), with.len(), "{mistakes}");
    }
}

impl Made {
    /// Asserts that the edit adds the text.
    #[track_caller]
    fn gains(&self, part: &str, text: &str) -> &Self {
        assert!(!before().0[part].contains(text), "{part} had it before: {text}");
        assert!(self.0[part].contains(text), "{part} lacks {text}");
        self
    }

    /// Asserts that the edit removes the text.
    #[track_caller]
    fn loses(&self, part: &str, text: &str) -> &Self {
        assert!(before().0[part].contains(text), "{part} did not have it before: {text}");
        assert!(!self.0[part].contains(text), "{part} still has {text}");
        self
    }

    /// Returns the text of one item: from its start to the next `end`.
    #[track_caller]
    fn between(&self, part: &str, start: &str, end: &str) -> &str {
        let text = &self.0[part];
        let from = text.find(start).unwrap_or_else(|| panic!("{part} lacks {start}"));
        let rest = &text[from..];
        &rest[..rest[start.len()..].find(end).map_or(rest.len(), |at| at + start.len())]
    }
}

impl Made {
    /// Returns the methods of a state's type: inherent ones, and those of its capabilities with their target states.
    fn methods_of(&self, state: &str) -> String {
        let text = &self.0["episode"];
        let own = format!("impl Episode<{state}> {{");
        let mut methods =
            if text.contains(&own) { self.between("episode", &own, "} }").to_owned() } else { String::new() };
        for shared in text.split("impl<S: ").skip(1) {
            let Some((can, _)) = shared.split_once("> Episode<S> {") else { continue };
            let Some((_, leads)) = text.split_once(&format!("impl {can} for {state} {{ type ")) else { continue };
            let (then, next) = leads.split_once(';').unwrap().0.split_once(" = ").unwrap();
            methods += &shared.split("} }").next().unwrap().replace(&format!("S::{then}"), next);
        }
        methods
    }

    /// Whether a rule explains the call of a method in a state.
    fn answers(&self, method: &str, state: &str) -> bool {
        let (traits, of) = (format!("impl In{method}Here"), format!(" for {state} {{}}"));
        let texts = self.0["episode"].split(&traits).skip(1);
        texts
            .filter_map(|text| text.split_once(" impl").map_or(Some(text), |(first, _)| Some(first)))
            .any(|text| text.contains(&of))
    }
}

/// Returns the generated code of the unedited schema.
fn before() -> &'static Made {
    static BEFORE: std::sync::OnceLock<Made> = std::sync::OnceLock::new();
    BEFORE.get_or_init(|| Schema::real().made().unwrap())
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn value(wire: &str, description: &str) -> Value {
    json!({ "type": "string", "enum": [wire], "description": description })
}

/// Adds the file of a packet type, and nothing else.
fn add_packet_file(schema: &mut Schema) {
    let mut note = schema.0["packets/QueueUpdatePacket.schema.json"].to_string();
    note = note.replace("QueueUpdatePacket", "NotePacket").replace("QueueUpdatePayload", "NotePayload");
    note = note.replace("QueueAction", "NoteAction").replace("QueueItem", "NoteItem");
    schema.0.insert(NOTE.to_owned(), serde_json::from_str(&note).unwrap());
}

/// Makes the additions that the lint then requires.
fn list_packet(schema: &mut Schema) {
    schema.add("Packet.schema.json", "/oneOf", "", json!({ "$ref": NOTE }));
    schema.add(HEADER, "/$defs/PacketType/oneOf", "", value("NotePacket", "Says something."));
    let event = json!({ "id": "note", "packet": "NotePacket", "when": [], "description": "a note" });
    schema.add(FSM, "/events", "", event);
    schema.add(FSM, "/layers/senders/4/sends", "", "NotePacket".into());
}

/// Adds an optional identifier, union and list to an observation.
fn add_clues(schema: &mut Schema) {
    let to = |name: &str| json!({ "$ref": format!("../common.schema.json#/$defs/{name}"), "description": "A hint." });
    let list = json!({ "description": "Hints.", "type": "array", "items": { "$ref": to("Clues")["$ref"] } });
    let id = json!({ "description": "A clue.", "type": "string", "pattern": "^clue_[a-z]+$" });
    let union =
        json!({ "description": "A clue.", "oneOf": [{ "$ref": "#/$defs/ClueId" }, { "$ref": "#/$defs/Count" }] });
    schema.add("common.schema.json", "/$defs", "ClueId", id).add("common.schema.json", "/$defs", "Clues", union);
    let members = "/$defs/ObservationPayload/properties";
    schema.add(OBSERVATION, members, "clue", to("ClueId")).add(OBSERVATION, members, "hints", list);
}

fn escalate_from_sense() -> Value {
    json!({
        "from": ["S1_SENSE"], "events": ["escalate"], "to": ["S8_ESCALATED"], "description": "At once.", "source": "D8",
    })
}

/// Branches of a directive's class.
const CLASSES: &str = "/$defs/TaskDirectivePayload/x-omen-branches/tool_safety_class";

fn branch(value: &str, name: &str) -> Value {
    json!({ "value": value, "name": name, "description": "A case more." })
}

fn add_tool_class(schema: &mut Schema) {
    schema.add(DIRECTIVE, "/$defs/ToolSafetyClass/oneOf", "", value("INTEL", "It looks at others."));
}

/// Makes the additions that the lint then requires for a class that only reads and so needs no token.
fn let_it_read(schema: &mut Schema) {
    let (rule, predicate) = fitting(schema);
    let lists = format!("/invariants/{rule}/predicates/{predicate}/holds/values");
    schema.add(DIRECTIVE, "/$defs/TaskDirectivePayload/allOf/0/x-omen-otherwise", "", "INTEL".into());
    schema.add(DIRECTIVE, CLASSES, "", branch("INTEL", "intel"));
    schema.add(RULES, &lists, "INTEL", json!(["read"]));
    let event = schema.place(FSM, "/events", "id", "direct_read");
    schema.add(FSM, &format!("/events/{event}/when/0/in"), "", "INTEL".into());
}

#[test]
fn an_optional_member_is_everywhere_without_a_line_of_rust() {
    let mut schema = Schema::real();
    schema.add(OBSERVATION, "/$defs/ObservationPayload/properties", "remark", text("A word more."));
    let made = schema.made().unwrap();
    let optional = "#[serde( default, skip_serializing_if = \"Option::is_none\", deserialize_with = \"present\" )]";
    made.gains("types", &format!("/// A word more. {optional} pub remark: Option<"))
        .gains("types", "name: \"remark\", description: \"A word more.\", required: false")
        .gains("setters", "/// A word more. pub fn remark(mut self, value: impl Into<String>) -> Self {");
    // The parser knows the key, both for facts and for a mere check.
    assert!(made.between("types", "impl ObservationPayloadKey", "impl<").contains("\"remark\" => Some("));
    assert_eq!(made.0["types"].matches("ObservationPayloadKey::Remark => break 'm_remark").count(), 2);
    assert_eq!(needed(&made), needed(&Schema::real().made().unwrap()));
}

#[test]
fn an_identifier_a_union_and_a_list_are_types_members_and_setters() {
    let mut schema = Schema::real();
    add_clues(&mut schema);
    let made = schema.made().unwrap();
    made.gains("types", "pub struct ClueId(String);")
        .gains("types", "ClueId(ClueId), /// An integer from 0 to 2^53-1")
        .gains("types", "pub hints: Option<Vec<Clues>>")
        .gains("setters", "pub fn clue(mut self, value: ClueId) -> Self {")
        .gains("setters", "pub fn hints(mut self, values: impl IntoIterator<Item = Clues>) -> Self {");
}

#[test]
fn a_required_member_asks_for_the_method_that_sets_it() {
    let mut schema = Schema::real();
    schema.add(OBSERVATION, "/$defs/ObservationPayload/properties", "remark", text("A word more.")).add(
        OBSERVATION,
        "/$defs/ObservationPayload/required",
        "",
        "remark".into(),
    );
    let says = |ty: &str| format!("let a method of `{ty}` set it, and add `\"remark\": \"`method`\"` here");
    schema.is_refused(&[
        (SETTERS, "/types/0/by_hand", &says("Observation<S>")),
        (SETTERS, "/types/1/by_hand", &says("Answer")),
    ]);
    schema.add(SETTERS, "/types/0/by_hand", "remark", "`new`".into());
    schema.add(SETTERS, "/types/1/by_hand", "remark", "`data`".into());
    let made = schema.made().unwrap();
    // The field is not an `Option`, so a builder without it does not compile.
    made.gains("types", "/// A word more. pub remark: String")
        .gains("types", "name: \"remark\", description: \"A word more.\", required: true");
    assert_eq!(needed(&made).count_ones(), needed(&Schema::real().made().unwrap()).count_ones() + 1);
}

/// Returns the members that the parser of observations requires, as bits.
fn needed(made: &Made) -> u64 {
    let parser = made.between("types", "for Check<ObservationPayload>", "Ok(())");
    let (_, needed) = parser.split_once("need(seen, ").unwrap();
    needed.split_once(')').unwrap().0.parse().unwrap()
}

#[test]
fn a_value_of_an_enum_is_everywhere_or_the_rules_ask_what_it_means() {
    // A member that no rule reads.
    let mut schema = Schema::real();
    schema.add("packets/IntegrityAlertPacket.schema.json", "/$defs/AlertType/oneOf", "", value("drill", "A drill."));
    let made = schema.made().unwrap();
    made.gains("types", "/// `drill`: A drill.").gains("types", "Drill").gains("types", "\"drill\"");
    assert!(made.between("types", "static ALERT_TYPE_SHAPE", "};").contains("\"drill\""));

    // A member that distinguishes events.
    let mut schema = Schema::real();
    schema.add(OBSERVATION, "/$defs/ObservationType/oneOf", "", value("rumour", "Hearsay."));
    let says = "no event of `ObservationPacket` holds for `/payload/observation_type` = `rumour`";
    schema.is_refused(&[(FSM, "/events", says)]);
    let event = schema.place(FSM, "/events", "id", "observe");
    schema.add(FSM, &format!("/events/{event}/when/0/in"), "", "rumour".into());
    schema.made().unwrap().gains("types", "Rumour").gains("machine", "ObservationType::Rumour");

    // A member that is also a type.
    let mut schema = Schema::real();
    let scope = "packets/ToolAuthorizationToken.schema.json";
    schema.add(scope, "/$defs/OperationType/oneOf", "", value("archive", "Put away."));
    let (rule, predicate) = fitting(&schema);
    let lists = format!("/invariants/{rule}/predicates/{predicate}/holds/values");
    schema.is_refused(&[(RULES, &lists, "add `archive` to each list that it belongs in")]);
    schema.add(RULES, &format!("{lists}/WRITE"), "", "archive".into());
    let made = schema.made().unwrap();
    made.gains("markers", "pub struct Archive;")
        .gains("markers", "const VALUE: ::omen_types::OperationType = ::omen_types::OperationType::Archive;")
        .gains("predicates", "impl OpFits<values::tool_safety_class::Write> for values::operation_type::Archive {}");
}

/// Returns the indices of the predicate that relates operations to classes.
fn fitting(schema: &Schema) -> (usize, usize) {
    let rule = schema.place(RULES, "/invariants", "code", "INV-007");
    (rule, schema.place(RULES, &format!("/invariants/{rule}/predicates"), "name", "OpFits"))
}

#[test]
fn a_packet_type_is_dispatched_once_every_list_has_it() {
    let mut schema = Schema::real();
    add_packet_file(&mut schema);
    schema.is_refused(&[
        ("Packet.schema.json", "", "add `NotePacket`, or remove its file"),
        (HEADER, "/$defs/PacketType", "add `NotePacket`, or remove its file"),
        (FSM, "/events", "no event of `NotePacket` holds for any packet"),
    ]);
    list_packet(&mut schema);
    schema.is_refused(&[(
        SETTERS,
        "",
        "add the type that makes it to `types`, or say under `elsewhere` why there is none",
    )]);
    schema.add(SETTERS, "/elsewhere", "NotePayload", "no move sends notes".into());
    let made = schema.made().unwrap();
    made.gains("types", "Note(NotePacket)")
        .gains("types", "pub struct NotePayload {")
        .gains("types", "Packet::Note(_) => PacketType::NotePacket")
        .gains("types", "impl HasShape for NotePacket")
        .gains("machine", "Event::Note => Some(PacketType::NotePacket)")
        .gains("machine", "PayloadFacts::Note { .. } => Event::Note");
}

#[test]
fn a_row_makes_a_step_of_the_machine_and_a_method() {
    let mut schema = Schema::real();
    schema.add(FSM, "/rows", "", escalate_from_sense());
    let made = schema.made().unwrap();
    made.gains("machine", "RowInfo { from: &[\"S1_SENSE\"], events: &[Event::Escalate], to: &[\"S8_ESCALATED\"]");
    assert!(!before().methods_of("Sense").contains("pub fn escalate<"));
    let methods = made.methods_of("Sense");
    assert!(methods.contains("pub fn escalate<") && methods.contains("Episode<Escalated>"), "{methods}");
    // The calls that were explained there no longer are.
    assert!(before().answers("Escalate", "Sense") && !made.answers("Escalate", "Sense"));
}

#[test]
fn a_row_that_goes_takes_its_step_and_its_method_and_the_rule_answers() {
    let mut schema = Schema::real();
    let rows = schema.at(FSM, "/rows").as_array_mut().unwrap();
    rows.retain(|row| row["from"] != json!(["S8_ESCALATED"]) || row["events"] != json!(["escalate"]));
    let made = schema.made().unwrap();
    made.loses("machine", "RowInfo { from: &[\"S8_ESCALATED\"], events: &[Event::Escalate], to: &[\"S8_ESCALATED\"]");
    assert!(before().methods_of("Escalated").contains("pub fn escalate<"));
    assert!(!made.methods_of("Escalated").contains("pub fn escalate<"));
    assert!(made.answers("Escalate", "Escalated") && !before().answers("Escalate", "Escalated"));
}

#[test]
fn a_state_asks_for_a_row_and_a_type() {
    let mut schema = Schema::real();
    let state = json!({ "id": "S10_PAUSED", "name": "Paused", "title": "paused", "description": "Nothing moves." });
    schema.add(FSM, "/states", "", state);
    schema.is_refused(&[(FSM, "/states/10", "add a row that leads to it, or remove it")]);
    let row = |from: &str, event: &str, to: &str| json!({ "from": [from], "events": [event], "to": [to], "description": "A pause.", "source": "D8" });
    schema.add(FSM, "/rows", "", row("S5_AUTHORIZE", "believe", "S10_PAUSED"));
    schema.add(FSM, "/rows", "", row("S10_PAUSED", "believe", "S7_REVIEW"));
    let place = schema.place(FSM, "/typed/moves", "method", "believe");
    let says = "`believe` leads from `Authorize` to a state without a plain type";
    schema.is_refused(&[(FSM, &format!("/typed/moves/{place}"), says)]);
    let ty = json!({ "type": "Paused", "of": ["S10_PAUSED"], "description": "Nothing moves." });
    schema.add(FSM, "/typed/states", "", ty);
    let Err(refused) = schema.made().map(drop) else { panic!("nothing explains a call in the new state") };
    let refused = refused.to_string();
    assert!(refused.contains("nothing explains FSM of this call in `Paused`"), "{refused}");
    let text =
        json!({ "rules": ["FSM"], "in": ["Paused"], "message": "nothing moves", "note": "go on with `.believe(..)`" });
    schema.add(FSM, "/typed/refused", "", text);
    let made = schema.made().unwrap();
    made.gains("machine", "/// `S10_PAUSED`: Nothing moves. Paused")
        .gains("machine", "State::Paused")
        .gains("machine", "Node::Paused")
        .gains("episode", "pub enum Paused {}")
        .gains("episode", "impl Typestate for Paused");
    assert!(
        made.methods_of("Authorize").contains("pub fn believe(self, belief: impl Says<Belief>) -> Episode<Paused>")
    );
    let believe = "pub fn believe(self, belief: impl Says<Belief>) -> Episode<Review>";
    assert!(made.methods_of("Paused").contains(believe));
    assert!(made.answers("Escalate", "Paused"));
}

#[test]
fn a_member_that_is_renamed_is_asked_for_wherever_it_is_named() {
    let mut schema = Schema::real();
    let members = schema.at(OBSERVATION, "/$defs/ObservationPayload/properties").as_object_mut().unwrap();
    let member = members.remove("source_tool").unwrap();
    members.insert("tool".to_owned(), member);
    let says = "`ObservationPayload` has no field `source_tool`";
    schema.is_refused(&[(SETTERS, "/types/0/by_hand/source_tool", says)]);
    let by_hand = schema.at(SETTERS, "/types/0/by_hand").as_object_mut().unwrap();
    let method = by_hand.remove("source_tool").unwrap();
    by_hand.insert("tool".to_owned(), method);
    let made = schema.made().unwrap();
    made.gains("types", "pub tool: Option<")
        .gains("types", "name: \"tool\"")
        .loses("types", "pub source_tool: Option<");
    made.loses("setters", "pub fn source_tool(").gains("setters", "pub fn tool(");
    // Members that events and rules read.
    let mut schema = Schema::real();
    let members = schema.at(OBSERVATION, "/$defs/ObservationPayload/properties").as_object_mut().unwrap();
    let member = members.remove("observation_type").unwrap();
    members.insert("sort".to_owned(), member);
    for name in schema.at(OBSERVATION, "/$defs/ObservationPayload/required").as_array_mut().unwrap() {
        if name == "observation_type" {
            *name = "sort".into();
        }
    }
    let says = "`ObservationPayload` has no `observation_type`";
    schema.is_refused(&[(FSM, "/events/0/when/0/pointer", says), (FSM, "/events/1/when/0/pointer", says)]);
    for place in [0, 1] {
        *schema.at(FSM, &format!("/events/{place}/when/0/pointer")) = "/payload/sort".into();
    }
    let says = "the lens cannot keep `observation_type` of `ObservationPayload`, which has no such member";
    schema.is_refused(&[("lens.json", "/keep/ObservationPayload", says)]);
}

#[test]
fn a_bound_that_is_tightened_holds_for_types_and_walk_and_counts() {
    let mut schema = Schema::real();
    *schema.at("common.schema.json", "/$defs/LayerNumber/maximum") = 5.into();
    *schema.at(ESCALATION, "/$defs/EscalationPayload/properties/top_options/maxItems") = 2.into();
    // Another layer must send the packets of the removed one.
    let says = "unknown layer `6`";
    schema.is_refused(&[(FSM, "/layers/senders/5/layer", says), (FSM, "/layers/typed/1", says)]);
    let mut gone = schema.at(FSM, "/layers/senders").as_array_mut().unwrap().remove(5);
    let sends = schema.at(FSM, "/layers/senders/4/sends").as_array_mut().unwrap();
    for packet in gone["sends"].as_array_mut().unwrap().drain(..) {
        if !sends.contains(&packet) {
            sends.push(packet);
        }
    }
    schema.at(FSM, "/layers/typed").as_array_mut().unwrap().remove(1);
    let made = schema.made().unwrap();
    let bounds = made.between("types", "impl IntegerScalar for LayerNumber", "}");
    assert!(bounds.contains("MAX: u64 = 5"), "{bounds}");
    let shape = made.between("types", "static LAYER_NUMBER_SHAPE", "};");
    assert!(shape.contains("max: 5"), "{shape}");
    made.loses("markers", "impl TwoOrThree for [(); 3usize] {}");
}

#[test]
fn a_conditional_holds_for_readers_and_walk_and_asks_who_sets_its_member() {
    let mut schema = Schema::real();
    let conditional = json!({
        "description": "An observation of a tool names the tool.",
        "if": { "properties": { "observation_type": { "enum": ["tool_output"] } }, "required": ["observation_type"] },
        "then": { "required": ["reliability_metadata"] },
        "x-omen-otherwise": ["user_input", "system_telemetry", "character_state", "market_signal"],
    });
    schema.add(OBSERVATION, "/$defs/ObservationPayload", "allOf", json!([conditional]));
    let at = "/$defs/ObservationPayload/allOf/0";
    schema.is_refused(&[(
        OBSERVATION,
        at,
        "add `intel_update` to the `enum` of the condition, or to `x-omen-otherwise`",
    )]);
    schema.add(OBSERVATION, &format!("{at}/x-omen-otherwise"), "", "intel_update".into());
    // Each of its branches requires a name and a description.
    let payload = "/$defs/ObservationPayload";
    schema.is_refused(&[(OBSERVATION, payload, "add to `x-omen-branches` of the object `\"observation_type\": [..]`")]);
    let others = ["user_input", "system_telemetry", "character_state", "market_signal"];
    let branches: Vec<_> = others.map(|value| branch(value, value)).into_iter().collect();
    schema.add(OBSERVATION, payload, "x-omen-branches", json!({ "observation_type": branches }));
    let list = format!("{payload}/x-omen-branches/observation_type");
    schema.is_refused(&[
        (OBSERVATION, &list, "the branch of `observation_type` for `tool_output` has neither a name nor a description"),
        (OBSERVATION, &list, "add `{ \"value\": \"intel_update\", \"name\": .., \"description\": .. }`"),
    ]);
    schema.add(OBSERVATION, &list, "", branch("tool_output", "output"));
    schema.add(OBSERVATION, &list, "", branch("intel_update", "intel"));
    let says =
        |ty: &str| format!("let a method of `{ty}` set it, and add `\"reliability_metadata\": \"`method`\"` here");
    schema.is_refused(&[
        (SETTERS, "/types/0/by_hand", &says("Observation<S>")),
        (SETTERS, "/types/1/by_hand", &says("Answer")),
    ]);
    for place in [0, 1] {
        schema.add(SETTERS, &format!("/types/{place}/by_hand"), "reliability_metadata", "`reliable`".into());
    }
    let made = schema.made().unwrap();
    // Both parsers check the conditional, and the walk prints its description.
    let says = "\"An observation of a tool names the tool.\"";
    assert_eq!(made.0["types"].matches("m_observation_type, Some(").count(), 2);
    assert!(made.between("types", "static OBSERVATION_PAYLOAD_SHAPE", "static").contains(says));
    made.gains("types", "pub const fn requires_reliability_metadata( observation_type: ObservationType, ) -> bool");
    made.loses("setters", "pub fn reliability_metadata(");
    // The branch requires the member by type, with the same description; the others do not.
    let needs = made.between("types", "pub mod observation {", "pub mod ");
    assert!(needs.contains("note = \"An observation of a tool names the tool.\""), "{needs}");
    assert!(needs.contains("pub trait OutputReliabilityMetadata:") && !needs.contains("IntelReliabilityMetadata"));
    made.gains("types", "pub fn output() -> ObservationOutputBuilder {")
        .gains("types", "pub struct ObservationOutputBuilder<A = Unset, B = Unset> {")
        .gains("types", "pub fn intel() -> ObservationIntelBuilder {")
        .gains("types", "pub struct ObservationIntelBuilder<A = Unset> {");
}

#[test]
fn the_text_of_a_rule_is_what_explain_and_compiler_and_refusals_say() {
    let mut schema = Schema::real();
    let (rule, predicate) = fitting(&schema);
    *schema.at(RULES, &format!("/invariants/{rule}/statement")) = "Only with a token.".into();
    *schema.at(RULES, &format!("/invariants/{rule}/help")) = "Get a token.".into();
    *schema.at(RULES, &format!("/invariants/{rule}/predicates/{predicate}/message")) = "INV-007: not so".into();
    let made = schema.made().unwrap();
    made.gains("codes", "\"Only with a token.\"").gains("codes", "\"Get a token.\"");
    made.gains("predicates", "/// Only with a token.").gains("predicates", "message = \"INV-007: not so\"");
}

#[test]
fn a_tool_class_is_asked_for_by_each_rule_that_tells_classes_apart() {
    let mut schema = Schema::real();
    add_tool_class(&mut schema);
    let (rule, predicate) = fitting(&schema);
    let lists = format!("/invariants/{rule}/predicates/{predicate}/holds/values");
    schema.is_refused(&[
        (DIRECTIVE, "/$defs/TaskDirectivePayload/allOf/0", "add `INTEL` to the `enum` of the condition"),
        (RULES, &lists, "add `\"INTEL\": [..]`, with the values of `OperationType` that fit it"),
        (FSM, "/events", "no event of `TaskDirectivePacket` holds for `safety_class` = `INTEL`"),
    ]);
    // The class only reads, so it needs no token.
    let_it_read(&mut schema);
    let made = schema.made().unwrap();
    made.gains("types", "/// `INTEL`: It looks at others. #[serde(rename = \"INTEL\")] Intel")
        .gains("markers", "pub struct IntelClass;")
        .gains("predicates", "impl NeedsNoToken for values::tool_safety_class::Intel {}")
        .gains("predicates", "impl OpFits<values::tool_safety_class::Intel> for values::operation_type::Read {}")
        .gains("machine", "derived::SafetyClass::Intel");

    // The class writes, so it needs a token.
    let conditional = "/$defs/TaskDirectivePayload/allOf/0";
    schema.at(DIRECTIVE, &format!("{conditional}/x-omen-otherwise")).as_array_mut().unwrap().pop();
    schema.add(DIRECTIVE, &format!("{conditional}/if/properties/tool_safety_class/enum"), "", "INTEL".into());
    let made = schema.made().unwrap();
    made.gains("episode", "impl TakesToken for ::omen_invariants::facts::values::tool_safety_class::Intel {}");
    assert!(!made.0["predicates"].contains("impl NeedsNoToken for values::tool_safety_class::Intel {}"));
    let demands = made.between("types", "pub const fn requires_authorization_token_id", "}");
    assert!(demands.contains("ToolSafetyClass::Intel"), "{demands}");
}
