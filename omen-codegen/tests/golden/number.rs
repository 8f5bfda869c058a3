/// A weight in kilograms.
///
/// Takes a number of at least 0.
/// Preserves whether JSON wrote an integer (`1`) or a fraction (`1.0`).
#[derive(::serde::Serialize, Clone, Debug, Eq, Hash, PartialEq)]
pub struct Weight(::serde_json::Number);

number_scalar!(Weight, "Weight", "a number of at least 0");

impl NumberScalar for Weight {
    const MIN: Option<f64> = Some(0f64);
    const MAX: Option<f64> = None;
}

static WEIGHT_SHAPE: Shape = Shape {
    name: "Weight",
    kind: ShapeKind::Number {
        min: Some(0f64),
        max: None,
    },
};
