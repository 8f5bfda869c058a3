/// A part of a hundred.
///
/// From 1 to 100.
#[derive(::serde::Serialize, Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Percentage(u64);

integer_scalar!(Percentage, "Percentage", "an integer from 1 to 100");

many_integers!(Percentage, "Percentage", "an integer from 1 to 100");

impl IntegerScalar for Percentage {
    const MIN: u64 = 1u64;
    const MAX: u64 = 100u64;
}

static PERCENTAGE_SHAPE: Shape = Shape {
    name: "Percentage",
    kind: ShapeKind::Integer {
        min: 1u64,
        max: 100u64,
    },
};
