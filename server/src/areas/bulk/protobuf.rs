//! A zero-copy parser of the Protocol Buffers wire format: fields in the order they were sent,
//! strings and messages as slices of the body. The meaning of field numbers is left to each
//! protocol.
//!
//! Groups are deprecated and treated as malformed.

use super::intake::LostPosition;

/// The bytes are not a valid protobuf message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the body is not a valid protobuf message of the type that Content-Type names")]
pub struct Malformed;

impl From<Malformed> for LostPosition {
    /// Converts the error of a body that was validated, and from which a part is then read.
    fn from(_: Malformed) -> Self {
        Self
    }
}

/// An iterator over the remaining fields of a message. It ends after the first error.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fields<'b> {
    rest: &'b [u8],
}

/// The value of a field, typed as far as the wire format goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'b> {
    /// An integer, an enumeration or a boolean.
    Varint(u64),
    /// A double or a fixed-width 64-bit integer.
    Fixed64(u64),
    /// A string, a message or a packed list.
    Bytes(&'b [u8]),
    /// A float or a fixed-width 32-bit integer.
    Fixed32(u32),
}

/// The maximum length of a varint, in bytes.
const VARINT_BYTES_MAX: usize = 10;

impl<'b> Fields<'b> {
    #[inline]
    pub(super) fn of(message: &'b [u8]) -> Self {
        Self { rest: message }
    }

    /// Returns the bytes not yet parsed.
    #[inline]
    pub(super) fn rest(&self) -> &'b [u8] {
        self.rest
    }

    #[inline]
    fn read(&mut self) -> Result<(u32, Value<'b>), Malformed> {
        let key = u32::try_from(varint(&mut self.rest)?).map_err(|_| Malformed)?;
        let value = match key & 7 {
            0 => Value::Varint(varint(&mut self.rest)?),
            1 => Value::Fixed64(u64::from_le_bytes(self.take()?)),
            2 => {
                let length = usize::try_from(varint(&mut self.rest)?).map_err(|_| Malformed)?;
                let (bytes, after) = self.rest.split_at_checked(length).ok_or(Malformed)?;
                self.rest = after;
                Value::Bytes(bytes)
            }
            5 => Value::Fixed32(u32::from_le_bytes(self.take()?)),
            _ => return Err(Malformed),
        };
        let number = key >> 3;
        if number == 0 { Err(Malformed) } else { Ok((number, value)) }
    }

    #[inline]
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (bytes, after) = self.rest.split_first_chunk().ok_or(Malformed)?;
        self.rest = after;
        Ok(*bytes)
    }
}

impl<'b> Iterator for Fields<'b> {
    /// The field number, from 1, and the value.
    type Item = Result<(u32, Value<'b>), Malformed>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.read();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

impl<'b> Value<'b> {
    /// Returns an integer of any width; negative integers are in two's complement.
    #[inline]
    pub(super) fn varint(self) -> Result<u64, Malformed> {
        match self {
            Self::Varint(number) => Ok(number),
            _ => Err(Malformed),
        }
    }

    /// Returns a `sint32` or `sint64`.
    pub(super) fn zigzag(self) -> Result<i64, Malformed> {
        self.varint().map(unzigzag)
    }

    #[inline]
    pub(super) fn double(self) -> Result<f64, Malformed> {
        match self {
            Self::Fixed64(bits) => Ok(f64::from_bits(bits)),
            _ => Err(Malformed),
        }
    }

    #[inline]
    pub(super) fn bytes(self) -> Result<&'b [u8], Malformed> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            _ => Err(Malformed),
        }
    }

    /// Passes each double of a repeated field to `take`: all of a packed list, or a single one.
    pub(super) fn doubles(self, mut take: impl FnMut(f64)) -> Result<(), Malformed> {
        match self {
            Self::Bytes(packed) => {
                let (doubles, rest) = packed.as_chunks();
                doubles.iter().for_each(|double| take(f64::from_le_bytes(*double)));
                if rest.is_empty() { Ok(()) } else { Err(Malformed) }
            }
            single => single.double().map(take),
        }
    }

    /// Passes each integer of a repeated field to `take`: all of a packed list, or a single one.
    pub(super) fn varints(self, mut take: impl FnMut(u64)) -> Result<(), Malformed> {
        match self {
            Self::Bytes(mut packed) => {
                while !packed.is_empty() {
                    take(varint(&mut packed)?);
                }
                Ok(())
            }
            single => single.varint().map(take),
        }
    }
}

/// Decodes the zigzag encoding of `sint32` and `sint64`.
pub(super) fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Reads a varint and advances `rest` past it.
#[inline]
pub(super) fn varint(rest: &mut &[u8]) -> Result<u64, Malformed> {
    match rest.split_first() {
        Some((first, after)) if *first < 0x80 => {
            *rest = after;
            Ok(u64::from(*first))
        }
        _ => long_varint(rest),
    }
}

fn long_varint(rest: &mut &[u8]) -> Result<u64, Malformed> {
    let mut number = 0;
    for (at, byte) in rest.iter().take(VARINT_BYTES_MAX).enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * at);
        if *byte < 0x80 {
            *rest = rest.get(at + 1..).ok_or(Malformed)?;
            // Only one bit of the tenth byte belongs to a 64-bit number.
            return if at == VARINT_BYTES_MAX - 1 && *byte > 1 {
                Err(Malformed)
            } else {
                Ok(number)
            };
        }
    }
    Err(Malformed)
}
