/// Helps of `INV-001`.
pub(crate) mod inv_001 {
    pub(crate) const REFILL: &str = "refill the pen";
    pub(crate) fn shorten(
        limit: impl ::core::fmt::Display,
        reader: impl ::core::fmt::Display,
    ) -> ::std::string::String {
        ::std::format!("write at most {limit} words, {limit} are enough for {reader}")
    }
}
