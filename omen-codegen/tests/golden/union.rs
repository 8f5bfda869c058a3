/// How much: so many, or in words.
#[derive(Clone, Debug, PartialEq, ::serde::Serialize)]
#[serde(untagged)]
pub enum Amount {
    /// So many pieces.
    Pieces(Pieces),
    /// An amount in words.
    Words(Words),
}

impl<'de> Read<'de> for Amount {
    type Out = Amount;
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Amount, D::Error> {
        deserializer.deserialize_any(Seed::<Amount>::new())
    }
}

impl<'de> Visitor<'de> for Seed<Amount> {
    type Value = Amount;
    fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        f.write_str("one of the forms of Amount")
    }
    fn visit_u64<E: Error>(self, value: u64) -> Result<Amount, E> {
        <Integer<Pieces> as Read<'de>>::read(value.into_deserializer())
            .map(Amount::Pieces)
    }
    fn visit_f64<E: Error>(self, value: f64) -> Result<Amount, E> {
        <Integer<Pieces> as Read<'de>>::read(value.into_deserializer())
            .map(Amount::Pieces)
    }
    fn visit_str<E: Error>(self, value: &str) -> Result<Amount, E> {
        <OwnedText<Words> as Read<'de>>::read(value.into_deserializer())
            .map(Amount::Words)
    }
}

impl<'de> Read<'de> for Check<Amount> {
    type Out = ();
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(Seed::<Check<Amount>>::new())
    }
}

impl<'de> Visitor<'de> for Seed<Check<Amount>> {
    type Value = ();
    fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        f.write_str("one of the forms of Amount")
    }
    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        <Integer<Pieces> as Read<'de>>::read(value.into_deserializer()).map(drop)
    }
    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        <Integer<Pieces> as Read<'de>>::read(value.into_deserializer()).map(drop)
    }
    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        <CheckText<Words> as Read<'de>>::read(value.into_deserializer()).map(drop)
    }
}

deserialize!(Amount, Amount);

static AMOUNT_SHAPE: Shape = Shape {
    name: "Amount",
    kind: ShapeKind::Union(&[&PIECES_SHAPE, &WORDS_SHAPE]),
};
