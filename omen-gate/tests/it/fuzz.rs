//! Random cases from a seed, compared with a second, simple model. A failing case is shrunk first.

mod allowlist;
mod grounding;

use std::fmt::Debug;

use crate::random::Random;

/// Random case that can be shrunk.
trait Case: Clone + Debug {
    fn random(random: &mut Random) -> Self;

    /// Slightly smaller cases.
    fn smaller(&self) -> Vec<Self>;
}

/// Checks random cases, and panics with the shrunk form of the first failing one, and its seed.
#[track_caller]
fn check<C: Case>(seed: u64, cases: u64, check: impl Fn(&C) -> Result<(), String>) {
    for seed in seed..seed + cases {
        let case = C::random(&mut Random(seed));
        if check(&case).is_err() {
            let (case, why) = shrunk(case, &check);
            panic!("seed {seed:#x}: {why}\n{case:#?}");
        }
    }
}

/// Shrinks a failing case as far as it still fails.
fn shrunk<C: Case>(mut case: C, check: &impl Fn(&C) -> Result<(), String>) -> (C, String) {
    let mut why = String::new();
    while let Some((smaller, told)) =
        case.smaller().into_iter().find_map(|smaller| check(&smaller).err().map(|why| (smaller, why)))
    {
        (case, why) = (smaller, told);
    }
    if why.is_empty() {
        why = check(&case).err().unwrap_or_default();
    }
    (case, why)
}

/// A list without each of its elements in turn.
fn without_one<T: Clone>(list: &[T]) -> impl Iterator<Item = Vec<T>> + '_ {
    (0..list.len())
        .map(|index| list.iter().enumerate().filter(|(at, _)| *at != index).map(|(_, it)| it.clone()).collect())
}

/// Case for the test of shrinking: numbers, none of which may exceed 5.
#[derive(Clone, Debug, PartialEq)]
struct Numbers(Vec<u64>);

impl Case for Numbers {
    fn random(random: &mut Random) -> Self {
        Self((0..20).map(|_| random.next() % 20).collect())
    }

    fn smaller(&self) -> Vec<Self> {
        without_one(&self.0).map(Self).collect()
    }
}

#[test]
fn a_case_that_fails_is_made_as_small_as_it_goes() {
    let judge = |case: &Numbers| match case.0.iter().find(|number| **number > 5) {
        Some(number) => Err(format!("{number} is above 5")),
        None => Ok(()),
    };
    let (case, why) = shrunk(Numbers(vec![1, 9, 3, 7, 2]), &judge);
    assert_eq!((case, why.as_str()), (Numbers(vec![7]), "7 is above 5"));
    let failed = std::panic::catch_unwind(|| check::<Numbers>(1, 10, judge)).unwrap_err();
    let message = failed.downcast_ref::<String>().unwrap();
    assert!(message.starts_with("seed 0x1: ") && message.contains("is above 5"), "{message}");
}
