//! Objects, and their members as Python reads them.

use omen_schema::json::{JsonType, Scanner};
use omen_types::shape::{Shape, ShapeKind};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple, PyType};

use crate::check::loads;

/// Object of the protocol: a packet, or a part of one. It is immutable, and matches its schema.
///
/// The members are keyword arguments and read-only attributes. An optional member that is `None` is absent, unless it may be
/// `null`.
#[pyclass(frozen, subclass, module = "omen.packets")]
pub(crate) struct Object {
    text: String,
}

/// Text of an object that was checked. Python cannot make one.
#[pyclass(frozen)]
pub(super) struct CheckedText(pub(super) String);

impl Object {
    /// Creates an object from a text that was checked.
    pub(super) fn new_checked(text: String) -> Self {
        Self { text }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

/// Read-only property of a class.
#[pyclass(frozen, module = "omen.packets")]
pub(super) struct Member {
    pub(super) name: &'static str,
    pub(super) shape: &'static Shape,
    pub(super) description: &'static str,
}

#[pymethods]
impl Member {
    fn __get__<'py>(
        slf: Bound<'py, Self>,
        instance: &Bound<'py, PyAny>,
        _owner: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Ok(object) = instance.cast::<Object>() else { return Ok(slf.into_any()) };
        let member = slf.get();
        match find(object.get().text(), member.name) {
            Some(text) => read(slf.py(), text, member.shape),
            None => Ok(slf.py().None().into_bound(slf.py())),
        }
    }

    fn __repr__(&self) -> String {
        format!("<member `{}`: {}>", self.name, self.description)
    }
}

/// Returns the text of a member of an object.
pub(super) fn find<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let mut found = None;
    let mut scanner = Scanner::new(text);
    scanner.object(|scanner, key, _| {
        let span = scanner.skip();
        if key == name {
            found = Some(scanner.slice(&span));
        }
    });
    found
}

/// Reads a value of a shape.
pub(super) fn read<'py>(py: Python<'py>, text: &str, shape: &'static Shape) -> PyResult<Bound<'py, PyAny>> {
    let mut scanner = Scanner::new(text);
    match (&shape.kind, scanner.json_type()) {
        (ShapeKind::Object(_), JsonType::Object) if !shape.name.is_empty() => {
            let checked = Bound::new(py, CheckedText(text.to_owned()))?;
            class(py, shape.name)?.call1((checked,))
        }
        (ShapeKind::Enum(_), JsonType::String) => class(py, shape.name)?.call1((scanner.string().0,)),
        (_, JsonType::String) => Ok(PyString::new(py, &scanner.string().0).into_any()),
        (ShapeKind::Array { item, .. }, JsonType::Array) => {
            let mut items = Vec::new();
            scanner.array(|scanner, _| {
                let span = scanner.skip();
                items.push(read(py, scanner.slice(&span), item));
            });
            Ok(PyTuple::new(py, items.into_iter().collect::<PyResult<Vec<_>>>()?)?.into_any())
        }
        _ => loads(py, text),
    }
}

/// Returns the class of a definition.
pub(super) fn class<'py>(py: Python<'py>, definition: &str) -> PyResult<Bound<'py, PyType>> {
    Ok(py.import("omen.packets")?.getattr(definition)?.cast_into::<PyType>()?)
}
