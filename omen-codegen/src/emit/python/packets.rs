//! Python classes of packets, and of the objects and enums in them.
//!
//! A class has no code: the core reads and checks its fields, using the definition with its name. The stub describes the fields.

use std::fmt::Write as _;

use super::{PythonModule, docstring, literal, of_kind};
use crate::emit::bug;
use crate::emit::names::shouting;
use crate::mistake::Mistakes;
use crate::model::{Branch, Case, Def, Field, Item, Kind, Model, Object, Ty, Variant};

/// Emits the module `omen.packets` with its stub.
///
/// # Errors
/// Names that two fields of a class would share.
pub fn packets(model: &Model) -> Result<PythonModule, Mistakes> {
    let mut source = format!("{HEAD}from omen._core import Branch, Object\nfrom omen._enums import TextEnum\n");
    let mut stub = format!("{HEAD}{STUB_IMPORTS}");
    let scalars = of_kind(model, |kind| match kind {
        Kind::Text(_) => Some("str"),
        Kind::Integer { .. } => Some("int"),
        Kind::Number { .. } => Some("float"),
        _ => None,
    });
    for (def, ty) in &scalars {
        write!(source, "\n{} = {ty}", def.name).map_err(bug_of)?;
        write!(stub, "\n{}: TypeAlias = {ty}\n{}", def.name, docstring(0, &def.description)).map_err(bug_of)?;
    }
    source.push('\n');
    let enums = of_kind(model, |kind| if let Kind::Enum(values) = kind { Some(values) } else { None });
    for (def, values) in &enums {
        let class = enumeration(def, values);
        source.push_str(&class);
        stub.push_str(&class);
        let values: Vec<_> = values.iter().map(|value| literal(&value.wire)).collect();
        write!(stub, "\n_{0}: TypeAlias = {0} | Literal[{1}]\n", def.name, values.join(", ")).map_err(bug_of)?;
    }
    let base = model.defs.get(PACKET).ok_or_else(|| bug(format!("no definition `{PACKET}`")))?;
    let docs = docstring(4, &base.description);
    write!(source, "\n\nclass {PACKET}(Object):\n{docs}\n    __slots__ = ()\n").map_err(bug_of)?;
    write!(stub, "\n\nclass {PACKET}(Object):\n{docs}").map_err(bug_of)?;
    for shared in ["header", "mcp"] {
        let field = model.packets.first().and_then(|packet| model.object(packet)?.field(shared));
        stub.push_str(&property(model, field.ok_or_else(|| bug(format!("packets have no member `{shared}`")))?)?);
    }
    let objects = of_kind(model, |kind| if let Kind::Object(object) = kind { Some(object) } else { None });
    for (def, object) in &objects {
        class(model, def, object, &mut source, &mut stub)?;
    }
    Ok(PythonModule { source, stub })
}

/// Emits the class of an enum, which is the same in the stub.
fn enumeration(def: &Def, values: &[Variant]) -> String {
    let mut class = format!("\n\nclass {}(TextEnum):\n{}", def.name, docstring(4, &def.description));
    for value in values {
        let name = constant(&value.wire);
        class.push_str(&format!("\n    {name} = {}\n{}", literal(&value.wire), docstring(4, &value.description)));
    }
    class
}

/// Returns the Python name of a value: `tools_ok` becomes `TOOLS_OK`, and `TaskResultPacket` becomes `TASK_RESULT_PACKET`.
fn constant(wire: &str) -> String {
    if wire.starts_with(char::is_uppercase) && wire.contains(char::is_lowercase) {
        return shouting(wire);
    }
    wire.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect()
}

/// Emits the class of an object.
fn class(model: &Model, def: &Def, object: &Object, source: &mut String, stub: &mut String) -> Result<(), Mistakes> {
    let base = if object.packet.is_some() { PACKET } else { "Object" };
    let head = format!("\n\nclass {}({base}):\n{}", def.name, docstring(4, &def.description));
    write!(source, "{head}\n    __slots__ = ()\n").map_err(bug_of)?;
    stub.push_str(&head);
    for branch in &object.branches {
        if object.field(&branch.name).is_some() {
            return Err(bug(format!("`{}` has a member and a branch `{}`", def.name, branch.name)));
        }
        source.push_str(&branch_call(def, branch)?);
    }
    let members: Vec<_> = object.fields.iter().map(|field| Parameter::plain(model, field)).collect::<Result<_, _>>()?;
    let metadata = if object.metadata.is_some() { ", **metadata: Any" } else { "" };
    let signature = parameters(&members);
    write!(stub, "\n    def __new__(cls, {signature}{metadata}) -> Self: ...\n").map_err(bug_of)?;
    for field in &object.fields {
        stub.push_str(&property(model, field)?);
    }
    for branch in &object.branches {
        let mut members = Vec::new();
        for field in &object.fields {
            members.extend(Parameter::of_branch(model, object, branch, field)?);
        }
        let signature = parameters(&members);
        let (name, docs) = (&branch.name, docstring(8, &branch.description));
        write!(stub, "\n    @staticmethod\n    def {name}({signature}) -> {}:\n{docs}", def.name).map_err(bug_of)?;
    }
    Ok(())
}

/// Emits a branch of an object, in terms of its differences from a plain object.
fn branch_call(def: &Def, branch: &Branch) -> Result<String, Mistakes> {
    let (case, value) = match &branch.case {
        Case::Value(value) => ("value", Some(value)),
        Case::Absent => ("absent", None),
        Case::Empty => ("empty", None),
        Case::Filled => ("filled", None),
    };
    let value = value.map_or("None".to_owned(), |value| literal(value));
    let mut text = format!(
        "\n    {} = Branch(\n        {}, {}, case={}, value={value},\n        doc={},\n",
        branch.name,
        literal(&format!("{}.{}", def.name, branch.name)),
        literal(&branch.subject),
        literal(case),
        literal(&branch.description),
    );
    let map = |text: &mut String, indent: usize, entries: &[(String, String)]| {
        entries
            .iter()
            .try_for_each(|(name, advice)| writeln!(text, "{:indent$}{}: {},", "", literal(name), literal(advice)))
    };
    if !branch.leaves_out.is_empty() {
        text.push_str("        leaves_out={\n");
        map(&mut text, 12, &branch.leaves_out).map_err(bug_of)?;
        text.push_str("        },\n");
    }
    if !branch.excludes.is_empty() {
        text.push_str("        excludes={\n");
        for excluded in &branch.excludes {
            writeln!(text, "            {}: {{", literal(&excluded.member)).map_err(bug_of)?;
            map(&mut text, 16, &excluded.values).map_err(bug_of)?;
            text.push_str("            },\n");
        }
        text.push_str("        },\n");
    }
    text.push_str("    )\n");
    Ok(text)
}

/// Emits the property of a field.
fn property(model: &Model, field: &Field) -> Result<String, Mistakes> {
    let ty = returned(model, &field.ty)?;
    let ty = if field.required || ty.ends_with("None") { ty } else { format!("{ty} | None") };
    let docs = docstring(8, &field.description);
    Ok(format!("\n    @property\n    def {}(self) -> {ty}:\n{docs}", field.name))
}

/// Keyword parameter of a constructor.
struct Parameter {
    name: String,
    ty: String,
    required: bool,
}

impl Parameter {
    fn plain(model: &Model, field: &Field) -> Result<Self, Mistakes> {
        Ok(Self { name: field.name.clone(), ty: accepted(model, &field.ty)?, required: field.required })
    }

    /// Returns the parameter in a branch; `None` if the branch leaves the field out or sets it.
    fn of_branch(model: &Model, object: &Object, branch: &Branch, field: &Field) -> Result<Option<Self>, Mistakes> {
        let is_subject = field.name == branch.subject;
        let is_left_out = branch.leaves_out.iter().any(|(name, _)| *name == field.name);
        if is_left_out || is_subject && branch.case != Case::Filled {
            return Ok(None);
        }
        let mut parameter = Self::plain(model, field)?;
        let demanded = object.demanded_by(branch).find(|conditional| conditional.requires == field.name);
        parameter.required |= is_subject || demanded.is_some();
        if demanded.is_some_and(|conditional| conditional.non_empty) {
            "str".clone_into(&mut parameter.ty);
        }
        if let Some(excluded) = branch.excludes.iter().find(|excluded| excluded.member == field.name) {
            let def = model.def(field.ty.reference().unwrap_or_default())?;
            let Kind::Enum(values) = &def.kind else {
                return Err(bug(format!("`{}` excludes values of no enum", branch.name)));
            };
            let kept = values.iter().filter(|value| !excluded.values.iter().any(|(name, _)| *name == value.wire));
            let kept: Vec<_> = kept.map(|value| &value.wire).collect();
            let members = kept.iter().map(|wire| format!("{}.{}", def.name, constant(wire)));
            let all: Vec<_> = members.chain(kept.iter().map(|wire| literal(wire))).collect();
            parameter.ty = format!("Literal[{}]", all.join(", "));
        }
        Ok(Some(parameter))
    }
}

/// Returns keyword-only parameters, required ones first.
fn parameters(all: &[Parameter]) -> String {
    let required = all.iter().filter(|one| one.required).map(|one| format!("{}: {}", one.name, one.ty));
    let optional = all.iter().filter(|one| !one.required).map(|one| {
        let none = if one.ty.ends_with("None") || one.ty == "Any" { "" } else { " | None" };
        format!("{}: {}{none} = ...", one.name, one.ty)
    });
    format!("*, {}", required.chain(optional).collect::<Vec<_>>().join(", "))
}

/// Returns the type of an argument.
fn accepted(model: &Model, ty: &Ty) -> Result<String, Mistakes> {
    Ok(match ty {
        Ty::Ref(name) => definition(model, name, true)?,
        Ty::Array { item: Item::Ref(name), .. } => format!("Sequence[{}]", definition(model, name, true)?),
        Ty::Array { item: Item::PlainText, .. } => "Sequence[str]".to_owned(),
        other => scalar(other).to_owned(),
    })
}

/// Returns the type of a property.
fn returned(model: &Model, ty: &Ty) -> Result<String, Mistakes> {
    Ok(match ty {
        Ty::Ref(name) => definition(model, name, false)?,
        Ty::Array { item: Item::Ref(name), .. } => format!("tuple[{}, ...]", definition(model, name, false)?),
        Ty::Array { item: Item::PlainText, .. } => "tuple[str, ...]".to_owned(),
        other => scalar(other).to_owned(),
    })
}

fn scalar(ty: &Ty) -> &'static str {
    match ty {
        Ty::Bool => "bool",
        Ty::NullableText => "str | None",
        Ty::PlainText | Ty::Ref(_) | Ty::Array { .. } => "str",
    }
}

/// Returns the type of a definition's values, as an argument or as the value of a property.
fn definition(model: &Model, name: &str, is_argument: bool) -> Result<String, Mistakes> {
    Ok(match &model.def(name)?.kind {
        Kind::Enum(_) if is_argument => format!("_{name}"),
        Kind::Union(branches) => {
            let branches = branches.iter().map(|branch| definition(model, branch, is_argument));
            branches.collect::<Result<Vec<_>, _>>()?.join(" | ")
        }
        Kind::FreeObject { .. } if is_argument => "Mapping[str, Any]".to_owned(),
        Kind::FreeObject { .. } => "dict[str, Any]".to_owned(),
        Kind::Any => "Any".to_owned(),
        Kind::Object(_) | Kind::Enum(_) | Kind::Text(_) | Kind::Integer { .. } | Kind::Number { .. } => name.to_owned(),
    })
}

/// Reports that a text could not be written, which can only be caused by a lack of memory.
fn bug_of(error: std::fmt::Error) -> Mistakes {
    bug(error.to_string())
}

/// Union of all packets, which is the base class of the packet classes.
const PACKET: &str = "Packet";

const HEAD: &str =
    "\"\"\"Packets of the protocol, and their parts. Generated from the schema by `cargo xtask docs`.\"\"\"

from __future__ import annotations

";

const STUB_IMPORTS: &str = "from collections.abc import Mapping, Sequence
from typing import Any, Literal

from omen._core import Object as Object
from omen._enums import TextEnum
from typing_extensions import Self, TypeAlias

";
