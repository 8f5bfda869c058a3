//! The members of closed objects.

use super::{Cursor, Parsed, Refused};

/// The members of a closed object, by name.
pub(crate) trait Key: Sized {
    fn of(name: &str) -> Option<Self>;
}

/// Notes that a member is there; fails if it was there before.
#[inline(always)]
pub(crate) fn once(seen: &mut u64, bit: u64) -> Parsed<()> {
    let is_new = *seen & bit == 0;
    *seen |= bit;
    if is_new { Ok(()) } else { Err(Refused) }
}

/// Fails unless all required members are there.
#[inline(always)]
pub(crate) fn need(seen: u64, required: u64) -> Parsed<()> {
    if seen & required == required { Ok(()) } else { Err(Refused) }
}

impl Cursor<'_> {
    /// Steps into an object up to the value of its first member, whichever it is; `None` if it is empty.
    #[inline(never)]
    pub(crate) fn first_member<K: Key>(&mut self) -> Parsed<Option<K>> {
        self.expect(b"{")?;
        self.space();
        if self.eat(b"}") { Ok(None) } else { self.member().map(Some) }
    }

    /// Steps up to the value of the next member, whichever it is, or over the end of the object.
    #[inline(never)]
    pub(crate) fn next_member<K: Key>(&mut self) -> Parsed<Option<K>> {
        self.space();
        if self.eat(b"}") {
            return Ok(None);
        }
        self.expect(b",")?;
        self.space();
        self.member().map(Some)
    }

    fn member<K: Key>(&mut self) -> Parsed<K> {
        let key = K::of(&self.string()?.text()?).ok_or(Refused)?;
        self.colon()?;
        Ok(key)
    }

    /// Steps over the colon between a name and its value.
    #[inline(always)]
    pub(crate) fn colon(&mut self) -> Parsed<()> {
        self.space();
        self.expect(b":")?;
        self.space();
        Ok(())
    }
}
