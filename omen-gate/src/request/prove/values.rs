//! Sample values of arguments and answers that represent all others.

use std::sync::Arc;

use omen_order::prove::{ValueClass, ValuePlace, Values};
use omen_order::rules::Test;

use crate::call::arguments::{RulesTest, samples};

/// Sample values according to rules in tables such as `where`.
pub(super) struct ArgumentValues;

impl Values for ArgumentValues {
    fn pointers(&self, test: &Test) -> Result<Vec<Arc<str>>, String> {
        Ok(rules(test)?.rules().sampled()?.into_iter().map(Arc::from).collect())
    }

    fn classes(&self, places: &[ValuePlace], distinct: usize, wanted: &[i64]) -> Result<Vec<ValueClass>, String> {
        let mut rules_at = Vec::new();
        for place in places {
            for test in &place.tests {
                rules_at.push((&*place.pointer, rules(test)?));
            }
        }
        samples(&rules_at, distinct, wanted)
    }
}

fn rules(test: &Test) -> Result<&RulesTest, String> {
    let rules = test.as_any().and_then(|test| test.downcast_ref::<RulesTest>());
    rules.ok_or_else(|| "a test that does not come from a configuration".to_owned())
}
