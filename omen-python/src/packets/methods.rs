//! Methods of the class of all packets, and of the objects in them.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::str::FromStr as _;

use omen::packet::PacketType;
use omen_schema::json::Scanner;
use omen_types::packet::PacketFacts;
use omen_types::shape::{Shape, ShapeKind};
use omen_types::{Code, Diagnostic, definition};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

use super::member::{self, CheckedText, Member, Object};
use super::{json_schema, write};
use crate::check::loads;
use crate::errors::{self, ErrorClass};

/// Definition that a class is generated from.
#[pyclass(frozen)]
struct Definition(&'static Shape);

#[pymethods]
impl Object {
    #[new]
    #[classmethod]
    #[pyo3(signature = (_checked = None, /, **members))]
    fn new(
        cls: &Bound<'_, PyType>,
        _checked: Option<&Bound<'_, PyAny>>,
        members: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        match _checked.map(|checked| checked.cast::<CheckedText>()) {
            Some(Ok(checked)) => return Ok(Self::new_checked(checked.get().0.clone())),
            Some(Err(_)) => {
                return Err(PyTypeError::new_err(format!("{}() takes keyword arguments only", cls.name()?)));
            }
            None => {}
        }
        let py = cls.py();
        let Some(shape) = shape_of(cls)? else {
            let help = "create one of its subclasses, or read any of them by `parse`";
            return Err(ErrorClass::Usage.error(
                py,
                &format!("`{}` has no members of its own", cls.name()?),
                Some(help),
            ));
        };
        let members = members.cloned().unwrap_or_else(|| PyDict::new(py));
        let text = build(shape, &members)?;
        check(py, shape, &text)?;
        Ok(Self::new_checked(text))
    }

    /// Gives each generated class its members, and the definition that they are checked by.
    #[classmethod]
    #[pyo3(signature = (**_arguments))]
    fn __init_subclass__(cls: &Bound<'_, PyType>, _arguments: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        if cls.getattr("__module__")?.cast::<PyString>()?.to_str()? != "omen.packets" {
            return Ok(());
        }
        let Some(shape) = definition::find(cls.name()?.to_str()?) else { return Ok(()) };
        let ShapeKind::Object(object) = &shape.kind else { return Ok(()) };
        cls.setattr(DEFINITION, Bound::new(cls.py(), Definition(shape))?)?;
        for field in object.fields {
            let member = Member { name: field.name, shape: field.shape, description: field.description };
            cls.setattr(field.name, Bound::new(cls.py(), member)?)?;
        }
        Ok(())
    }

    /// Reads an object from JSON (`str` or `bytes`), and checks it. `Packet.parse` reads any packet.
    #[classmethod]
    fn parse<'py>(cls: &Bound<'py, PyType>, text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = cls.py();
        if let Ok(text) = text.cast::<PyString>() {
            return parse(cls, text.to_str()?);
        }
        let bytes: PyBackedBytes = text.extract()?;
        match str::from_utf8(&bytes) {
            Ok(text) => parse(cls, text),
            Err(error) => Err(errors::packet(py, &omen_types::packet::parse::not_utf8(&error).errors)),
        }
    }

    /// Creates an object from a dictionary, such as the output of a model, and checks it.
    #[classmethod]
    fn from_dict<'py>(cls: &Bound<'py, PyType>, members: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let mut text = String::new();
        write::value(&mut text, members, "", 0)?;
        parse(cls, &text)
    }

    /// Returns the JSON Schema (2020-12) of the class, for the structured output of a model.
    #[classmethod]
    fn model_json_schema<'py>(cls: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyAny>> {
        let py = cls.py();
        let schema = match shape_of(cls)? {
            Some(shape) => json_schema::schema(shape.name),
            None => json_schema::schema(cls.name()?.to_str()?),
        };
        match schema {
            Some(schema) => loads(py, &schema.to_string()),
            None => Err(ErrorClass::Usage.error(py, &format!("`{}` has no schema", cls.name()?), None)),
        }
    }

    /// Returns the object as JSON.
    fn to_json(&self) -> &str {
        self.text()
    }

    /// Returns the object as a dictionary, with plain values.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        loads(py, self.text())
    }

    fn __eq__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let Some(other) = other.cast::<Self>().ok().filter(|other| slf.get_type().is(other.get_type())) else {
            return Ok(py.NotImplemented().into_bound(py));
        };
        let (text, other) = (slf.get().text(), other.get().text());
        let equal = text == other || value(text) == value(other);
        Ok(equal.into_pyobject(py)?.to_owned().into_any())
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        value(self.text()).hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let mut members = Vec::new();
        let mut scanner = Scanner::new(slf.get().text());
        scanner.object(|scanner, key, _| {
            scanner.skip();
            members.push(key.into_owned());
        });
        let shown = members.iter().map(|name| {
            let value = match name.starts_with('_') {
                true => slf.call_method0("to_dict")?.get_item(name)?,
                false => slf.getattr(name.as_str())?,
            };
            Ok(format!("{name}={}", value.repr()?))
        });
        let shown = shown.collect::<PyResult<Vec<_>>>()?.join(", ");
        Ok(format!("{}({shown})", slf.get_type().name()?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        Ok((slf.get_type().getattr("parse")?, PyTuple::new(slf.py(), [slf.get().text()])?))
    }

    /// Returns the object itself, which nothing can change.
    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    /// Returns the object itself, which nothing can change.
    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }
}

/// Returns the definition of a class; `None` for one that stands for several.
fn shape_of(cls: &Bound<'_, PyType>) -> PyResult<Option<&'static Shape>> {
    let definition = cls.getattr_opt(DEFINITION)?;
    Ok(definition.and_then(|definition| definition.cast::<Definition>().ok().map(|definition| definition.get().0)))
}

/// Writes the members of an object, in the order of the schema. Unknown ones follow, for the check to report.
fn build(shape: &Shape, members: &Bound<'_, PyDict>) -> PyResult<String> {
    let ShapeKind::Object(object) = &shape.kind else { return Ok(String::new()) };
    let mut text = String::from("{");
    let mut write = |name: &str, value: &Bound<'_, PyAny>| {
        if text.len() > 1 {
            text.push(',');
        }
        write::string(&mut text, name);
        text.push(':');
        write::value(&mut text, value, &write::step("", name), 1)
    };
    for field in object.fields {
        match members.get_item(field.name)? {
            Some(value) if field.required || !value.is_none() || is_nullable(field.shape) => write(field.name, &value)?,
            Some(_) | None => {}
        }
    }
    for (name, value) in members {
        let name = name.cast::<PyString>()?;
        if !object.fields.iter().any(|field| name == field.name) {
            write(name.to_str()?, &value)?;
        }
    }
    text.push('}');
    Ok(text)
}

/// Returns whether `null` is a value of a shape, so that `None` is not an absent member.
fn is_nullable(shape: &Shape) -> bool {
    matches!(shape.kind, ShapeKind::Any | ShapeKind::NullableText)
}

/// Reads an object of a class, or of one of its subclasses.
fn parse<'py>(cls: &Bound<'py, PyType>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    let py = cls.py();
    let made = |cls: &Bound<'py, PyType>| cls.call1((Bound::new(py, CheckedText(text.to_owned()))?,));
    if let Some(shape) = shape_of(cls)? {
        check(py, shape, text)?;
        return made(cls);
    }
    let facts = PacketFacts::parse(text).map_err(|rejected| errors::packet(py, &rejected.errors))?;
    made(&member::class(py, facts.header.packet_type.as_str())?)
}

/// Checks a text by the definition of a class. A packet must also have the type of the class.
fn check(py: Python<'_>, shape: &'static Shape, text: &str) -> PyResult<()> {
    let Ok(expected) = PacketType::from_str(shape.name) else {
        let found = definition::errors(text, shape);
        return if found.is_empty() { Ok(()) } else { Err(errors::packet(py, &found)) };
    };
    let facts = PacketFacts::parse(text).map_err(|rejected| errors::packet(py, &rejected.errors))?;
    let found = facts.header.packet_type;
    if found == expected {
        return Ok(());
    }
    let message = format!("expected `{expected}` for `packet_type`, found `{found}`");
    let error = Diagnostic::error(Code::Schema, message).at("/header/packet_type");
    Err(errors::packet(py, &[error.help(format!("create a `{found}`, or write the other type"))]))
}

/// Returns the value of a text that was checked.
fn value(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// Attribute of a class that has its definition.
const DEFINITION: &str = "_definition";
