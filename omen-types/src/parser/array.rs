//! Arrays.

use std::marker::PhantomData;

use super::{Cursor, Parse, ParseResult, refused};

/// Collector of an array's elements.
pub(crate) trait Gather<T>: Default {
    fn take(&mut self, element: T);
}

impl<T> Gather<T> for Vec<T> {
    #[inline]
    fn take(&mut self, element: T) {
        self.push(element);
    }
}

/// Discards the elements; the array's length is returned separately.
impl<T> Gather<T> for () {
    #[inline]
    fn take(&mut self, _: T) {}
}

/// Array of `MIN` to `MAX` elements, parsed by `P` and collected in `G`; returns the collector and the length.
pub(crate) struct Array<P, G, const MIN: usize, const MAX: usize>(PhantomData<(P, G)>);

impl<'t, P: Parse<'t>, G: Gather<P::Out>, const MIN: usize, const MAX: usize> Parse<'t> for Array<P, G, MIN, MAX> {
    type Out = (G, usize);

    #[inline]
    fn parse(cursor: &mut Cursor<'t>) -> ParseResult<(G, usize)> {
        let (mut all, mut count) = (G::default(), 0);
        cursor.expect(b"[")?;
        cursor.space();
        if !cursor.eat(b"]") {
            loop {
                all.take(P::parse(cursor)?);
                count += 1;
                cursor.space();
                if !cursor.eat(b",") {
                    break;
                }
                cursor.space();
            }
            cursor.expect(b"]")?;
        }
        if (MIN..=MAX).contains(&count) { Ok((all, count)) } else { refused() }
    }
}
