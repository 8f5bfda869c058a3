//! Proofs about rules on the elements of arrays, compared with an independent implementation that tries all small arrays.

use serde_json::json;

use super::*;

/// Demand on an array of objects, or on each of its elements.
#[derive(Clone, Debug)]
enum ArrayDemand {
    AtMost(i64),
    Among(Vec<&'static str>, bool),
    NoFlag,
    Length(usize),
}

fn array_demands(random: &mut Random) -> BTreeMap<&'static str, ArrayDemand> {
    let mut demands = BTreeMap::new();
    for _ in 0..1 + random.below(3) {
        let (place, demand) = match random.below(4) {
            0 => ("/items/*/n", ArrayDemand::AtMost(pick(random, &[0, 1, 2]))),
            1 => (
                "/items/*/s",
                ArrayDemand::Among(pick(random, &[vec!["a"], vec!["b"], vec!["a", "b"]]), random.below(2) == 0),
            ),
            2 => ("/items/*/f", ArrayDemand::NoFlag),
            _ => ("/items", ArrayDemand::Length(1 + random.below(2))),
        };
        demands.insert(place, demand);
    }
    demands
}

impl ArrayDemand {
    fn toml(&self) -> String {
        match self {
            Self::AtMost(most) => format!("max = {most}"),
            Self::Among(texts, is_optional) => format!("in = {texts:?}, optional = {is_optional}"),
            Self::NoFlag => "absent = true".to_owned(),
            Self::Length(most) => format!("length = {{ max = {most} }}"),
        }
    }

    /// Independent implementation.
    fn judge(&self, items: &[&Value]) -> bool {
        items.iter().all(|item| match self {
            Self::AtMost(most) => item["n"].as_i64().is_some_and(|number| number <= *most),
            Self::Among(texts, is_optional) => match item.get("s") {
                None => *is_optional && item.is_object(),
                Some(text) => text.as_str().is_some_and(|text| texts.contains(&text)),
            },
            Self::NoFlag => item.is_object() && item.get("f").is_none(),
            Self::Length(most) => items.len() <= *most,
        })
    }
}

#[tokio::test]
async fn elements_are_compared_as_all_small_arrays_are() {
    let mut elements = vec![json!("text")];
    for number in [None, Some(0), Some(1), Some(2), Some(3)] {
        for text in [None, Some("a"), Some("b"), Some("c")] {
            for flag in [None, Some(true)] {
                let members =
                    [("n", number.map(Value::from)), ("s", text.map(Value::from)), ("f", flag.map(Value::from))];
                elements.push(members.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect());
            }
        }
    }
    let pairs = elements.iter().flat_map(|first| elements.iter().map(move |second| vec![first, second]));
    let few = pairs.clone().step_by(3).map(|pair| pair.into_iter().chain(elements.first()).collect());
    let arrays: Vec<Vec<&Value>> =
        few.chain(pairs).chain(elements.iter().map(|element| vec![element])).chain([Vec::new()]).collect();
    let folder = TempDir::new().unwrap();
    let mut random = Random(6);
    let wanted = Proofs::wanted().choose(24, 240);
    let mut different = 0;
    for _ in 0..wanted {
        let sides = [(); 2].map(|()| array_demands(&mut random));
        let configs = sides.each_ref().map(|demands| {
            let rules: Vec<_> =
                demands.iter().map(|(place, demand)| format!("'{place}' = {{ {} }}", demand.toml())).collect();
            config_of(folder.path(), &tool_of(any_values()), &format!("{{ {} }}", rules.join(", ")))
        });
        let proof = prove(&configs[0], &configs[1]).await;
        assert!(proof.outside.is_empty(), "{sides:?}: {:?}", proof.outside);
        let passes = |side: usize, items: &[&Value]| sides[side].values().all(|demand| demand.judge(items));
        let found = proof.differences.first();
        if let Some(found) = found {
            different += 1;
            assert_eq!(found.disagreement, None, "{found:?}");
            // One that is missing or another value is for the gate to judge, which it has done.
            if let Some(items) = found.steps[0].args.get("items").and_then(Value::as_array) {
                let items: Vec<_> = items.iter().collect();
                assert!(passes(1, &items) && !passes(0, &items), "{sides:?}: {items:?}");
            }
        }
        let missed = arrays.iter().find(|items| passes(1, items) && !passes(0, items));
        assert!(missed.is_none() || found.is_some(), "{sides:?}: {missed:?}");
    }
    println!("{wanted} tried, {different} different");
    assert!(4 * different >= wanted);
}

#[tokio::test]
async fn what_rules_on_elements_cannot_be_compared_is_named() {
    let folder = TempDir::new().unwrap();
    let config = |rules: &str| config_of(folder.path(), &tool_of(any_values()), rules);
    for (old, new, why) in [
        (
            "{ '/items/*/*' = { max = 1 } }",
            "{ '/items/*/*' = { max = 2 } }",
            "`/items/*/*` passes through several arrays",
        ),
        (
            "{ '/items/*/a' = { max = 1 } }",
            "{ '/items/*/a/b' = { max = 2 } }",
            "rules read both `*/a` and a member below it",
        ),
    ] {
        let proof = prove(&config(old), &config(new)).await;
        let [outside] = proof.outside.as_slice() else { panic!("{proof:?}") };
        assert_eq!(outside.why, why);
    }
    // Neither judges more than 1,024 elements.
    let of_length =
        |rules: &str| config(&format!("{{ '/items/*' = {{ {rules} }}, '/items' = {{ length = {{ max = 2000 }} }} }}"));
    let proof = prove(&of_length("max = 1"), &of_length("max = 5")).await;
    assert_eq!(proof.differences[0].steps[0].args["items"].as_array().map(Vec::len), Some(1), "{proof:?}");
    let proof = prove(&of_length("max = 1"), &config("{ '/items/*' = { max = 1 } }")).await;
    assert!(proof.differences.is_empty() && proof.outside.is_empty(), "{proof:?}");
}
