//! Numbers.
//!
//! The short numbers in most packets are parsed here. Longer numbers and other notations are left to `serde_json`,
//! which decides whether a number is finite and which double is nearest.

use std::marker::PhantomData;

use super::{Cursor, Parse, ParseResult, Refusal, refused};
use crate::scalar::{FromChecked, IntegerScalar, NumberScalar, whole};

/// Number of decimal digits that a double represents exactly.
const DIGITS: usize = 15;

/// Powers of ten, which are all exact as doubles.
const TENS: [f64; DIGITS + 1] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// Maximum number of characters of a number that is certainly finite as a double.
const SURELY_FINITE: usize = 300;

/// Word in which every byte is 1.
const EACH: u64 = 0x0101_0101_0101_0101;

/// Powers of ten, for fewer than eight digits.
const SCALES: [u64; 8] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000];

/// Returns the number with these eight digits, first digit in the lowest byte: combines pairs, then fours, then all.
#[inline(always)]
const fn eight_digits(digits: u64) -> u64 {
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff
}

/// Integer within bounds.
pub(crate) struct Integer<T>(PhantomData<T>);

impl<'t, T: IntegerScalar + FromChecked<u64>> Parse<'t> for Integer<T> {
    type Out = T;

    #[inline]
    fn parse(cursor: &mut Cursor<'t>) -> ParseResult<T> {
        let value = cursor.integer()?;
        if (T::MIN..=T::MAX).contains(&value) { Ok(T::trusted(value)) } else { refused() }
    }
}

/// Number within bounds.
pub(crate) struct Number<T>(PhantomData<T>);

impl<'t, T: NumberScalar> Parse<'t> for Number<T> {
    type Out = ();

    #[inline]
    fn parse(cursor: &mut Cursor<'t>) -> ParseResult<()> {
        if T::holds(cursor.double()?) { Ok(()) } else { refused() }
    }
}

/// Number with few digits.
pub(super) enum Short {
    Integer(u64),
    Double(f64),
}

/// Returns the double nearest to a number of at most 15 digits, `decimals` of which are after the point.
#[inline(always)]
fn decimal(digits: u64, decimals: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "at most 15 digits")]
    let digits = digits as f64;
    // Both are exact, so the quotient is the nearest double.
    digits / TENS.get(decimals).copied().unwrap_or(1.0)
}

impl<'t> Cursor<'t> {
    /// Parses a non-negative integer in any notation (D41).
    #[inline]
    fn integer(&mut self) -> ParseResult<u64> {
        let (from, first) = (self.at(), self.peek());
        let (value, digits) = self.digits(0);
        if digits == 0 || digits > DIGITS || matches!(self.peek(), b'.' | b'e' | b'E') {
            return self.any_integer(from);
        }
        if first == b'0' && digits > 1 { refused() } else { Ok(value) }
    }

    /// Parses a number with few digits, if one is next: an integer, or a double if it has a decimal point.
    #[inline]
    pub(super) fn short_number(&mut self) -> Option<Short> {
        let from = self.at();
        let (mut value, whole) = self.digits(0);
        let mut decimals = 0;
        if self.peek() == b'.' {
            self.step(1);
            (value, decimals) = self.digits(value);
        }
        if whole == 0 || whole + decimals > DIGITS || matches!(self.peek(), b'e' | b'E') {
            self.go_to(from);
            return None;
        }
        Some(if decimals == 0 { Short::Integer(value) } else { Short::Double(decimal(value, decimals)) })
    }

    pub(super) fn number(&mut self) -> ParseResult<serde_json::Number> {
        self.serde_number(self.at())
    }

    #[cold]
    fn any_integer(&mut self, from: usize) -> ParseResult<u64> {
        whole(&self.serde_number(from)?).ok_or(Refusal)
    }

    /// Parses a number as the nearest double.
    #[inline]
    fn double(&mut self) -> ParseResult<f64> {
        let (from, first) = (self.at(), self.peek());
        let (mut value, whole) = self.digits(0);
        let mut decimals = 0;
        if self.peek() == b'.' {
            self.step(1);
            (value, decimals) = self.digits(value);
            if decimals == 0 {
                return refused();
            }
        }
        if whole == 0 || whole + decimals > DIGITS || matches!(self.peek(), b'e' | b'E') {
            return self.any_double(from);
        }
        if first == b'0' && whole > 1 {
            return refused();
        }
        Ok(decimal(value, decimals))
    }

    #[cold]
    fn any_double(&mut self, from: usize) -> ParseResult<f64> {
        self.serde_number(from)?.as_f64().ok_or(Refusal)
    }

    #[inline]
    pub(super) fn any_number(&mut self) -> ParseResult<()> {
        let from = self.at();
        if self.peek() == b'-' {
            self.step(1);
        }
        let first = self.peek();
        let (_, whole) = self.digits(0);
        if whole == 0 || (first == b'0' && whole > 1) {
            return refused();
        }
        if self.peek() == b'.' {
            self.step(1);
            if self.digits(0).1 == 0 {
                return refused();
            }
        }
        if matches!(self.peek(), b'e' | b'E') || self.at() - from > SURELY_FINITE {
            return self.serde_number(from).map(drop);
        }
        Ok(())
    }

    /// Parses digits that follow the digits in `before`. Returns the combined number, which is exact up to 15 digits,
    /// and the number of new digits.
    #[inline(always)]
    fn digits(&mut self, before: u64) -> (u64, usize) {
        let Some(eight) = self.rest().first_chunk() else { return self.more_digits(before, 0) };
        let bytes = u64::from_le_bytes(*eight);
        let values = bytes.wrapping_sub(EACH * 0x30);
        // The highest bit of each byte marks a non-digit. Only the lowest marked byte counts, so a carry into higher
        // bytes is harmless.
        let others = (values | bytes.wrapping_add(EACH * 0x46)) & (EACH * 0x80);
        let count = others.trailing_zeros() / 8;
        let (Some(scale), true) = (SCALES.get(count as usize), count > 0) else {
            return if count == 0 { (before, 0) } else { self.more_digits(before, 0) };
        };
        self.step(count as usize);
        (before.wrapping_mul(*scale).wrapping_add(eight_digits(values << (64 - 8 * count))), count as usize)
    }

    #[cold]
    #[inline(never)]
    fn more_digits(&mut self, before: u64, count: usize) -> (u64, usize) {
        let (mut value, mut count) = (before, count);
        while let byte @ b'0'..=b'9' = self.peek() {
            value = value.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
            self.step(1);
            count += 1;
        }
        (value, count)
    }

    /// Parses the number that begins at `from` with `serde_json`.
    #[cold]
    fn serde_number(&mut self, from: usize) -> ParseResult<serde_json::Number> {
        self.go_to(from);
        let bytes = self.rest();
        let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E');
        let length = bytes.iter().take_while(|byte| is_part(byte)).count();
        let text = self.slice(from, from + length)?;
        self.step(length);
        serde_json::from_str(text).map_err(|_| Refusal)
    }
}
