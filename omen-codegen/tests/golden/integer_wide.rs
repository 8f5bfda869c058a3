/// How many. Every `u32` is within the bounds, so that it converts without a check.
///
/// From 0 to 9007199254740991.
#[derive(::serde::Serialize, Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Total(u64);

integer_scalar!(Total, "Total", "an integer from 0 to 9007199254740991");

many_integers!(Total, "Total", "an integer from 0 to 9007199254740991");

impl IntegerScalar for Total {
    const MIN: u64 = 0u64;
    const MAX: u64 = 9007199254740991u64;
}

impl From<u32> for Total {
    fn from(value: u32) -> Self {
        Self(value.into())
    }
}

static TOTAL_SHAPE: Shape = Shape {
    name: "Total",
    kind: ShapeKind::Integer {
        min: 0u64,
        max: 9007199254740991u64,
    },
};
