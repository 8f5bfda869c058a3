//! Fields of closed objects.

use super::{Cursor, Parse, ParseResult, refused};

/// Records that a field is present; fails if it is repeated.
#[inline(always)]
pub(crate) fn once(seen: &mut u64, bit: u64) -> ParseResult<()> {
    let is_new = *seen & bit == 0;
    *seen |= bit;
    if is_new { Ok(()) } else { refused() }
}

/// Fails unless all required fields are present.
#[inline(always)]
pub(crate) fn need(seen: u64, required: u64) -> ParseResult<()> {
    if seen & required == required { Ok(()) } else { refused() }
}

impl<'t> Cursor<'t> {
    /// Enters an object, up to the value of its first field; `None` if the object is empty.
    #[cold]
    #[inline(never)]
    pub(crate) fn first_member<K: Parse<'t, Out = K>>(&mut self) -> ParseResult<Option<K>> {
        self.expect(b"{")?;
        self.space();
        if self.eat(b"}") { Ok(None) } else { self.member().map(Some) }
    }

    /// Skips to the value of the next field, or past the end of the object.
    #[cold]
    #[inline(never)]
    pub(crate) fn next_member<K: Parse<'t, Out = K>>(&mut self) -> ParseResult<Option<K>> {
        self.space();
        if self.eat(b"}") {
            return Ok(None);
        }
        self.expect(b",")?;
        self.space();
        self.member().map(Some)
    }

    #[inline(always)]
    fn member<K: Parse<'t, Out = K>>(&mut self) -> ParseResult<K> {
        let key = K::parse(self)?;
        self.colon()?;
        Ok(key)
    }

    /// Skips the colon between a name and its value.
    #[inline(always)]
    pub(crate) fn colon(&mut self) -> ParseResult<()> {
        self.space();
        self.expect(b":")?;
        self.space();
        Ok(())
    }
}
