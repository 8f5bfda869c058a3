/// How much: so many, or in words.
#[derive(::serde::Serialize, Clone, Debug, PartialEq)]
#[serde(untagged)]
pub enum Amount {
    /// So many pieces.
    Pieces(Pieces),
    /// An amount in words.
    Words(Words),
}

impl<'de> ::serde::Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Forms;
        impl<'de> Visitor<'de> for Forms {
            type Value = Amount;
            fn expecting(
                &self,
                f: &mut ::std::fmt::Formatter<'_>,
            ) -> ::std::fmt::Result {
                f.write_str("one of the forms of Amount")
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<Amount, E> {
                <Pieces>::deserialize(value.into_deserializer()).map(Amount::Pieces)
            }
            fn visit_f64<E: Error>(self, value: f64) -> Result<Amount, E> {
                <Pieces>::deserialize(value.into_deserializer()).map(Amount::Pieces)
            }
            fn visit_str<E: Error>(self, value: &str) -> Result<Amount, E> {
                <Words>::deserialize(value.into_deserializer()).map(Amount::Words)
            }
        }
        deserializer.deserialize_any(Forms)
    }
}

impl<'t> Parse<'t> for Check<Amount> {
    type Out = ();
    fn parse(cursor: &mut Cursor<'t>) -> ParseResult<()> {
        match cursor.peek() {
            b'-' | b'0'..=b'9' => <Integer<Pieces> as Parse<'t>>::parse(cursor).map(drop),
            b'"' => <Check<NonEmptyText> as Parse<'t>>::parse(cursor).map(drop),
            _ => Err(Refusal),
        }
    }
}

static AMOUNT_SHAPE: Shape = Shape {
    name: "Amount",
    kind: ShapeKind::Union(&[&PIECES_SHAPE, &WORDS_SHAPE]),
};
