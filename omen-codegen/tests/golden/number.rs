/// A weight in kilograms.
///
/// Takes a number not below 0.
/// Keeps whether JSON wrote it as an integer (`1`) or not (`1.0`).
#[derive(Clone, Debug, PartialEq, Eq, Hash, ::serde::Serialize)]
pub struct Weight(::serde_json::Number);

impl Weight {
    /// Checks and takes a value.
    ///
    /// # Errors
    /// If it is out of bounds or not finite.
    pub fn new(value: f64) -> Result<Self, Invalid> {
        match ::serde_json::Number::from_f64(value) {
            Some(number) if <Self as NumberScalar>::holds(value) => Ok(Self(number)),
            _ => Err(Invalid::new("Weight", "a number not below 0", value.to_string())),
        }
    }
    /// The value, as the nearest double.
    #[must_use]
    pub fn get(&self) -> f64 {
        self.0.as_f64().unwrap_or(f64::NAN)
    }
}

impl crate::scalar::sealed::Scalar for Weight {}

impl NumberScalar for Weight {
    const MIN: Option<f64> = Some(0f64);
    const MAX: Option<f64> = None;
}

impl crate::scalar::Trusted<::serde_json::Number> for Weight {
    fn trusted(value: ::serde_json::Number) -> Self {
        Self(value)
    }
}

impl TryFrom<f64> for Weight {
    type Error = Invalid;
    fn try_from(value: f64) -> Result<Self, Invalid> {
        Self::new(value)
    }
}

impl ::std::fmt::Display for Weight {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> ::serde::Deserialize<'de> for Weight {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <Number<Self> as Read<'de>>::read(deserializer)
    }
}

static WEIGHT_SHAPE: Shape = Shape {
    name: "Weight",
    kind: ShapeKind::Number {
        min: Some(0f64),
        max: None,
    },
};
