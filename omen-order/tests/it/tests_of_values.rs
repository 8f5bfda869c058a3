//! Tests of arguments in neutral JSON, for the engine.

use std::sync::Arc;

use omen_order::rules::Test;
use omen_order::{Fit, ValueTest};
use serde_json::{Map, Value};

/// Table such as `{ "/env": { "equals": "prod" } }`.
#[derive(Debug)]
struct Table(Map<String, Value>);

impl ValueTest for Table {
    fn judge(&self, value: &Value) -> Fit {
        self.0.iter().map(|(pointer, demands)| demand(value.pointer(pointer), demands)).fold(Fit::Yes, Fit::and)
    }

    fn content(&self) -> String {
        Value::Object(self.0.clone()).to_string()
    }
}

fn demand(value: Option<&Value>, demands: &Value) -> Fit {
    let fit = |yes| if yes { Fit::Yes } else { Fit::No };
    let Some(value) = value else {
        let may_miss = demands.get("optional").is_some() || demands.get("absent").is_some();
        return if may_miss { Fit::Yes } else { Fit::Unknown };
    };
    let tells = !value.is_number() || integer(value).is_some();
    let all = demands.as_object().unwrap().iter().map(|(key, wanted)| match key.as_str() {
        "absent" => Fit::No,
        "equals" if tells => fit(value == wanted),
        "in" if tells => fit(wanted.as_array().unwrap().contains(value)),
        "min" => integer(value).map_or(Fit::Unknown, |number| fit(number >= wanted.as_i64().unwrap())),
        "max" => integer(value).map_or(Fit::Unknown, |number| fit(number <= wanted.as_i64().unwrap())),
        "optional" => Fit::Yes,
        _ => Fit::Unknown,
    });
    all.fold(Fit::Yes, Fit::and)
}

fn integer(value: &Value) -> Option<i64> {
    value.as_i64().filter(|number| number.unsigned_abs() < 1 << 53)
}

pub(crate) fn table(value: &Value) -> Result<Test, String> {
    let table = value.as_object().ok_or("expected a table")?;
    Ok(Arc::new(Table(table.clone())))
}
