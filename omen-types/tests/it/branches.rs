//! Builders of branches: they require by type what the branch requires, have no setter for what it leaves out, and build what the
//! schema accepts. All programs are generated from the schema, so new branches are tested automatically.

#![allow(clippy::print_stdout, reason = "a test says how many programs it has compiled")]

use std::collections::BTreeSet;

use omen_codegen::model::{Branch, Case, Field, Kind, Model, Object, Ty, When};

use omen_testkit::programs::{self, Cell, Program};

const HEAD: &str = "use omen_types::{*, builder::*};\nfn any<T>() -> T { loop {} }";

/// A branch, with its object.
struct Way<'m> {
    of: &'m str,
    object: &'m Object,
    branch: &'m Branch,
}

fn model() -> Model {
    omen_codegen::model(omen_schema::FILES.iter().copied()).unwrap()
}

fn ways(model: &Model) -> Vec<Way<'_>> {
    let objects = model.defs.iter().filter_map(|(of, def)| match &def.kind {
        Kind::Object(object) => Some((of, object)),
        _ => None,
    });
    objects.flat_map(|(of, object)| object.branches.iter().map(move |branch| Way { of, object, branch })).collect()
}

impl Way<'_> {
    /// Returns the members that must be set: those that every object requires, those that the conditionals of the branch require,
    /// and lists that must not be empty.
    fn required(&self) -> Vec<&Field> {
        let Self { object, branch, .. } = self;
        let demanded: Vec<_> = object.demanded_by(branch).map(|conditional| conditional.requires.as_str()).collect();
        let is_required = |field: &&Field| match (field.name == branch.subject, &branch.case) {
            (true, case) => *case == Case::Filled,
            _ => field.required || demanded.contains(&field.name.as_str()),
        };
        object.fields.iter().filter(is_required).collect()
    }

    fn optional(&self) -> Vec<&Field> {
        let required: Vec<_> = self.required().iter().map(|field| field.name.as_str()).collect();
        let left_out = |name: &str| self.branch.leaves_out.iter().any(|(member, _)| member == name);
        let others = self.object.fields.iter().filter(|field| !required.contains(&field.name.as_str()));
        others.filter(|field| field.name != self.branch.subject && !left_out(&field.name)).collect()
    }

    /// Returns a call of the builder that sets these members.
    fn call(&self, members: &[&Field]) -> String {
        let required: Vec<_> = self.required().iter().map(|field| field.name.as_str()).collect();
        let value = |field: &Field| match field.ty {
            Ty::PlainText => "String::new()".to_owned(),
            // A member that a branch has narrowed accepts more than one type.
            _ if self.branch.excludes.iter().any(|excluded| excluded.member == field.name) => {
                format!("any::<{}{}>()", self.begin(), field.ty.reference().unwrap())
            }
            Ty::Array { .. } if required.contains(&field.name.as_str()) => "any::<AtLeastOne<_>>()".to_owned(),
            // The type of the argument is inferred.
            _ => "any()".to_owned(),
        };
        let setters: String = members.iter().map(|field| format!(".{}({})", field.name, value(field))).collect();
        format!("let _: {0} = {0}::{1}(){setters}.build();", self.of, self.branch.name)
    }

    /// Returns the name of the branch in types.
    fn begin(&self) -> String {
        self.branch.name.split('_').map(|word| format!("{}{}", word[..1].to_uppercase(), &word[1..])).collect()
    }

    /// Returns the name of the builder's type.
    fn builder(&self) -> String {
        format!("{}{}Builder", self.of.trim_end_matches("Payload"), self.begin())
    }
}

#[test]
fn each_case_of_each_conditional_has_a_builder() {
    let model = model();
    let ways = ways(&model);
    let mut discriminators = 0;
    for (of, def) in &model.defs {
        let Kind::Object(object) = &def.kind else { continue };
        let subjects: BTreeSet<_> = object.conditionals.iter().map(|conditional| &conditional.subject).collect();
        for subject in subjects {
            discriminators += 1;
            let field = object.field(subject).unwrap();
            let mut cases = match field.ty.reference().map(|of| &model.def(of).unwrap().kind) {
                Some(Kind::Enum(values)) => values.iter().map(|value| Case::Value(value.wire.clone())).collect(),
                _ => vec![Case::Empty, Case::Filled],
            };
            if !field.required {
                cases.push(Case::Absent);
            }
            for case in cases {
                let is_it = |way: &&Way<'_>| way.of == of && way.branch.subject == *subject && way.branch.case == case;
                assert_eq!(ways.iter().filter(is_it).count(), 1, "{of}: `{subject}` {case:?}");
            }
        }
        // Each conditional is required by some branch.
        for conditional in &object.conditionals {
            let whens = match &conditional.when {
                When::OneOf(values) => values.len(),
                When::Empty => 1,
            };
            let demanding = object.branches.iter().filter(|branch| branch.meets(conditional)).count();
            assert_eq!(demanding, whens, "{of}: {}", conditional.description);
        }
    }
    println!("{discriminators} members tell {} branches apart", ways.len());
    assert!(discriminators >= 5 && ways.len() >= 18);
}

/// Returns the objects that have a plain builder: all but packets.
fn plain(model: &Model) -> Vec<(&str, &Object)> {
    let mut plain = Vec::new();
    for (of, def) in &model.defs {
        if let Kind::Object(object) = &def.kind
            && object.packet.is_none()
        {
            plain.push((of.as_str(), object));
        }
    }
    plain
}

/// One program, compiled once: for each branch a complete value, values without one of the members, a value with a member that
/// the branch leaves out, and a value with a member set twice.
#[test]
fn what_a_branch_demands_is_required_by_type_and_nothing_else() {
    let model = model();
    let mut programs = [Program::new(HEAD), Program::new(HEAD)];
    // A member that a builder sets by itself has no setter, so rustc reports only that.
    let mut by_itself = Program::new(HEAD);
    let (mut lacking, mut left_out, mut twice) = (0, 0, 0);
    let ways = ways(&model);
    for way in &ways {
        let [illegal, legal] = &mut programs;
        let cell = |what: &str| Cell { name: format!("{}::{} {what}", way.of, way.branch.name), state: way.builder() };
        let required = way.required();
        legal.add(cell("with what it requires"), "fn", "()", &way.call(&required));
        let all: Vec<_> = required.iter().copied().chain(way.optional()).collect();
        legal.add(cell("with all of its members"), "fn", "()", &way.call(&all));
        for missing in &required {
            let others: Vec<_> = all.iter().copied().filter(|field| field.name != missing.name).collect();
            illegal.add(cell(&format!("without `{}`", missing.name)), "fn", "()", &way.call(&others));
            lacking += 1;
        }
        for member in &required {
            let again: Vec<_> = required.iter().copied().chain([*member]).collect();
            illegal.add(cell(&format!("with `{}` twice", member.name)), "fn", "()", &way.call(&again));
            twice += 1;
        }
        if way.branch.case != Case::Filled {
            let body = format!("let _ = {}::{}().{}(any());", way.of, way.branch.name, way.branch.subject);
            by_itself.add(cell("with its own case"), "fn", "()", &body);
        }
        for (member, _) in &way.branch.leaves_out {
            let with: Vec<_> = required.iter().copied().chain(way.object.field(member)).collect();
            illegal.add(cell(&format!("with `{member}`")), "fn", "()", &way.call(&with));
            left_out += 1;
        }
    }
    let mut of_plain = 0;
    for (of, object) in plain(&model) {
        let [illegal, legal] = &mut programs;
        let cell = |what: &str| Cell { name: format!("{of}::builder {what}"), state: format!("{of}Builder") };
        let call = |members: &[&Field]| {
            let value = |field: &Field| if matches!(field.ty, Ty::PlainText) { "String::new()" } else { "any()" };
            let setters: String = members.iter().map(|field| format!(".{}({})", field.name, value(field))).collect();
            format!("let _ = {of}::builder(){setters}.build();")
        };
        let (required, optional): (Vec<_>, Vec<_>) = object.fields.iter().partition(|field| field.required);
        let all: Vec<_> = required.iter().chain(&optional).copied().collect();
        legal.add(cell("with what it requires"), "fn", "()", &call(&required));
        legal.add(cell("with all of its members"), "fn", "()", &call(&all));
        for missing in &required {
            let others: Vec<_> = all.iter().copied().filter(|field| field.name != missing.name).collect();
            illegal.add(cell(&format!("without `{}`", missing.name)), "fn", "()", &call(&others));
            let again: Vec<_> = required.iter().copied().chain([*missing]).collect();
            illegal.add(cell(&format!("with `{}` twice", missing.name)), "fn", "()", &call(&again));
            of_plain += 1;
        }
    }
    (lacking, twice) = (lacking + of_plain, twice + of_plain);
    for packet in &model.packets {
        let header: Vec<_> =
            model.object("PacketHeader").unwrap().fields.iter().filter(|field| field.required).collect();
        let names = header.iter().map(|field| field.name.as_str()).chain(["mcp", "payload"]);
        let names: Vec<_> = names.filter(|name| *name != "packet_type").collect();
        let [illegal, legal] = &mut programs;
        let cell = |what: &str| Cell { name: format!("{packet} {what}"), state: "PacketBuilder".to_owned() };
        let payload = model.payload_of(packet).unwrap();
        let call = |left: &str| {
            let value = |name: &str| match name {
                "mcp" => "any::<McpEnvelope>()".to_owned(),
                "payload" => format!("any::<{payload}>()"),
                "layer_source" => "layers::Own".to_owned(),
                _ => "any()".to_owned(),
            };
            let set = names.iter().filter(|name| **name != left).map(|name| format!(".{name}({})", value(name)));
            format!("let _ = {packet}::builder(){}.build().map(Packet::from);", set.collect::<String>())
        };
        legal.add(cell("with what it requires"), "fn", "()", &call(""));
        for name in &names {
            illegal.add(cell(&format!("without `{name}`")), "fn", "()", &call(name));
            lacking += 1;
        }
        let whole = format!(
            "let _: Option<{packet}> = {packet}::builder().header(any()).mcp(any::<McpEnvelope>()).payload(any::<{payload}>()).build().ok();"
        );
        legal.add(cell("with a header"), "fn", "()", &whole);
        let body = format!("let _ = {packet}::builder().packet_type(any());");
        by_itself.add(cell("with a packet type"), "fn", "()", &body);
    }
    let [illegal, legal] = programs;
    let errors = programs::check("omen-types", &[("illegal", &illegal), ("legal", &legal), ("by_itself", &by_itself)]);

    let is_rule = |code: &str| omen_types::Code::ALL.iter().any(|known| known.as_str() == code);
    let mut failures = errors.amiss("illegal", &illegal.cells, is_rule);
    for (line, cell) in &legal.cells {
        failures.extend(errors.on_line("legal", *line).iter().map(|error| format!("{}: {error}", cell.name)));
    }
    for (line, cell) in &by_itself.cells {
        match errors.on_line("by_itself", *line) {
            [error] if error.starts_with("error[E0599]: no method named") => {}
            other => failures.push(format!("{}: {other:?}", cell.name)),
        }
    }
    for (line, cell) in &by_itself.cells {
        match errors.on_line("by_itself", *line) {
            [error] if error.starts_with("error[E0599]: no method named") => {}
            other => failures.push(format!("{}: {other:?}", cell.name)),
        }
    }
    println!(
        "branches: {} legal programs compile; {lacking} that lack a member, {twice} that set one twice, {left_out} with one \
         that is left out and {} with what a builder says by itself give one error each",
        legal.cells.len(),
        by_itself.cells.len(),
    );
    let required: usize = ways.iter().map(|way| way.required().len()).sum();
    assert_eq!((lacking, twice), (required + of_plain + 6 * model.packets.len(), required + of_plain));
    assert!(of_plain > 80, "{of_plain} required members of plain builders");
    assert!(left_out > 0 && by_itself.cells.len() > model.packets.len());
    assert!(failures.is_empty(), "{} programs are amiss:\n{}", failures.len(), failures.join("\n"));
}
