//! Proofs about sums.

use super::grants::{entry, free_grant};
use super::*;

#[tokio::test]
async fn a_larger_sum_is_shown_by_amounts_that_exceed_the_old_one() {
    let config = |rules: &str, sum: u64, more: &str| {
        let max = format!("max = [{{ sum = {{ '/n' = {sum} }}, within = '1h' }}{more}]");
        let entry = entry("t", &["READ"], &format!("where = {{ '/n' = {{ {rules} }} }}\n{max}"));
        Config::parse(&format!("[servers.s]\n{entry}{}", free_grant("t"))).unwrap()
    };
    let once = ", { calls = 1, within = '1h' }";
    let too_many = Err("no difference was found, but calls have too many amounts to try them all");
    for (rules, sums, more, expected) in [
        ("min = 0", [10, 20], "", Ok(1)),
        ("min = 1, max = 4", [10, 11], "", Ok(3)),
        ("in = [3, 5]", [10, 12], "", Ok(3)),
        ("min = 1, max = 900", [2000, 2001], "", Ok(3)),
        // Not by multiples of three, and not by one call.
        ("in = [3]", [10, 11], "", Ok(0)),
        ("min = 1, max = 4", [10, 20], once, Ok(0)),
        ("min = 1, max = 900", [1000, 2000], once, too_many),
        // A smaller sum allows nothing new.
        ("min = 0", [20, 10], "", Ok(0)),
    ] {
        let proof = prove(&config(rules, sums[0], more), &config(rules, sums[1], more)).await;
        let case = format!("{rules} {sums:?} {more}: {proof:?}");
        assert_eq!(proof.outside.first().map(|outside| outside.why.as_str()), expected.err(), "{case}");
        let mut amounts = Vec::new();
        for difference in &proof.differences {
            assert_eq!(difference.disagreement, None, "{case}");
            amounts.extend(difference.steps.iter().filter_map(|step| step.args["n"].as_u64()));
        }
        let expected = expected.unwrap_or_default();
        let sum = |amounts: &[u64]| amounts.iter().sum::<u64>();
        assert_eq!((amounts.len(), sum(&amounts) > sums[0]), (expected, expected > 0), "{case}");
        assert!(amounts.is_empty() || sum(&amounts) <= sums[1], "{case}");
    }
}

#[tokio::test]
async fn amounts_of_another_type_differ_where_only_the_old_rules_add_them_up() {
    let config = |max: &str| {
        let entry = entry("t", &["READ"], max);
        Config::parse(&format!("[servers.s]\n{entry}{}", free_grant("t"))).unwrap()
    };
    let (sum, none) = (config("max = { sum = { '/n' = 10 }, within = '1h' }"), config(""));
    let proof = prove(&sum, &none).await;
    let [difference] = proof.differences.as_slice() else { panic!("{proof:?}") };
    assert_eq!((difference.steps.len(), &difference.disagreement), (1, &None));
    assert!(prove(&none, &sum).await.differences.is_empty());
}
