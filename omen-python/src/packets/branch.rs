//! Branches: constructors for the cases of a member, such as `TaskDirectivePayload.read`.

use omen_types::{Code, Diagnostic};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::errors::{self, ErrorClass};

/// Branch of a class. Its data is generated; the class checks what is the same in all branches.
#[pyclass(frozen, module = "omen.packets")]
pub(super) struct Branch {
    name: String,
    subject: String,
    case: Case,
    doc: String,
    leaves_out: Py<PyDict>,
    excludes: Py<PyDict>,
}

/// Case of the member that distinguishes the branches.
enum Case {
    Value(String),
    Absent,
    Empty,
    Filled,
}

#[pymethods]
impl Branch {
    #[new]
    #[pyo3(signature = (name, subject, *, case, value, doc, leaves_out = None, excludes = None))]
    #[expect(clippy::too_many_arguments, reason = "generated code calls it, by keywords")]
    fn new(
        py: Python<'_>,
        name: String,
        subject: String,
        case: &str,
        value: Option<String>,
        doc: String,
        leaves_out: Option<Py<PyDict>>,
        excludes: Option<Py<PyDict>>,
    ) -> PyResult<Self> {
        let case = match (case, value) {
            ("value", Some(value)) => Case::Value(value),
            ("absent", None) => Case::Absent,
            ("empty", None) => Case::Empty,
            ("filled", None) => Case::Filled,
            _ => return Err(ErrorClass::Argument.at(py, "invalid case of a branch", Some("case"), None)),
        };
        let or_empty = |members: Option<Py<PyDict>>| members.unwrap_or_else(|| PyDict::new(py).unbind());
        Ok(Self { name, subject, case, doc, leaves_out: or_empty(leaves_out), excludes: or_empty(excludes) })
    }

    fn __get__<'py>(
        slf: Bound<'py, Self>,
        instance: &Bound<'py, PyAny>,
        owner: Option<&Bound<'py, PyAny>>,
    ) -> BranchCall {
        let class = owner.map_or_else(|| instance.get_type().into_any(), Bound::clone);
        BranchCall { branch: slf.unbind(), class: class.unbind() }
    }
}

/// Branch of a certain class, which is called with the members of an object.
#[pyclass(frozen, module = "omen.packets")]
pub(super) struct BranchCall {
    branch: Py<Branch>,
    class: Py<PyAny>,
}

#[pymethods]
impl BranchCall {
    #[pyo3(signature = (**members))]
    fn __call__<'py>(&self, py: Python<'py>, members: Option<&Bound<'py, PyDict>>) -> PyResult<Bound<'py, PyAny>> {
        let members = members.cloned().unwrap_or_else(|| PyDict::new(py));
        self.branch.get().prepare(&members)?;
        self.class.bind(py).call((), Some(&members))
    }

    fn __repr__(&self) -> String {
        let branch = self.branch.get();
        format!("<branch `{}`: {}>", branch.name, branch.doc)
    }
}

impl Branch {
    /// Checks the members for this branch, and adds the one that the branch determines.
    fn prepare(&self, members: &Bound<'_, PyDict>) -> PyResult<()> {
        let (py, name, subject) = (members.py(), &self.name, &self.subject);
        for (member, advice) in self.leaves_out.bind(py) {
            if members.get_item(&member)?.is_some_and(|value| !value.is_none()) {
                let message = format!("unexpected field `{member}` in `{name}()`");
                return Err(refused(py, &message, &member.to_string(), &advice.to_string()));
            }
        }
        for (member, values) in self.excludes.bind(py) {
            let Some(value) = members.get_item(&member)? else { continue };
            let Some(advice) = values.cast::<PyDict>()?.get_item(&value).ok().flatten() else { continue };
            let value =
                value.cast::<PyString>().map_or_else(|_| String::new(), |value| value.to_string_lossy().into_owned());
            let message = format!("unexpected value `{value}` for `{member}` in `{name}()`");
            return Err(refused(py, &message, &member.to_string(), &advice.to_string()));
        }
        let given = members.get_item(subject)?;
        match (&self.case, given) {
            (Case::Filled, Some(given)) if given.is_truthy()? => Ok(()),
            (Case::Filled, _) => {
                let message = format!("expected at least one element for `{subject}` in `{name}()`, found none");
                Err(refused(py, &message, subject, "add one, or begin with another branch"))
            }
            (_, Some(_)) => {
                let message = format!("unexpected field `{subject}` in `{name}()`, which sets it");
                Err(refused(py, &message, subject, "leave it out, or begin with another branch"))
            }
            (Case::Value(value), None) => members.set_item(subject, value),
            (Case::Empty, None) => members.set_item(subject, PyList::empty(py)),
            (Case::Absent, None) => Ok(()),
        }
    }
}

fn refused(py: Python<'_>, message: &str, member: &str, help: &str) -> PyErr {
    let error = Diagnostic::error(Code::Schema, message).at(super::write::step("", member)).help(help);
    errors::packet(py, &[error])
}
