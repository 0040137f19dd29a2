//! The wire format of Protocol Buffers, read where it lies: fields in the order they were sent, texts and messages as
//! slices of the body. What the numbers of fields mean is each protocol's to know.
//!
//! Groups, which nothing has written for fifteen years, are damage here.

/// The bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the body is not a protobuf message of the kind that Content-Type names")]
pub struct Damaged;

/// The fields of a message, from the next one on. After damage there are none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fields<'b> {
    rest: &'b [u8],
}

/// What a field holds, as far as the wire tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'b> {
    /// Integers, enumerations and booleans.
    Varint(u64),
    /// Doubles and fixed integers.
    Fixed64(u64),
    /// Texts, messages and packed lists.
    Bytes(&'b [u8]),
    /// Floats and fixed integers.
    Fixed32(u32),
}

/// The most bytes of a varint.
const VARINT_BYTES_MAX: usize = 10;

impl<'b> Fields<'b> {
    #[inline]
    pub(super) fn of(message: &'b [u8]) -> Self {
        Self { rest: message }
    }

    /// What is not read yet.
    #[inline]
    pub(super) fn rest(&self) -> &'b [u8] {
        self.rest
    }

    #[inline]
    fn read(&mut self) -> Result<(u32, Value<'b>), Damaged> {
        let key = u32::try_from(varint(&mut self.rest)?).map_err(|_| Damaged)?;
        let value = match key & 7 {
            0 => Value::Varint(varint(&mut self.rest)?),
            1 => Value::Fixed64(u64::from_le_bytes(self.take()?)),
            2 => {
                let length = usize::try_from(varint(&mut self.rest)?).map_err(|_| Damaged)?;
                let (bytes, after) = self.rest.split_at_checked(length).ok_or(Damaged)?;
                self.rest = after;
                Value::Bytes(bytes)
            }
            5 => Value::Fixed32(u32::from_le_bytes(self.take()?)),
            _ => return Err(Damaged),
        };
        let number = key >> 3;
        if number == 0 { Err(Damaged) } else { Ok((number, value)) }
    }

    #[inline]
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Damaged> {
        let (bytes, after) = self.rest.split_first_chunk().ok_or(Damaged)?;
        self.rest = after;
        Ok(*bytes)
    }
}

impl<'b> Iterator for Fields<'b> {
    /// The number of the field, from 1, and its value.
    type Item = Result<(u32, Value<'b>), Damaged>;

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
    /// An integer of any size; negative ones are its complement.
    #[inline]
    pub(super) fn varint(self) -> Result<u64, Damaged> {
        match self {
            Self::Varint(number) => Ok(number),
            _ => Err(Damaged),
        }
    }

    /// `sint32` and `sint64`.
    pub(super) fn zigzag(self) -> Result<i64, Damaged> {
        self.varint().map(unzigzag)
    }

    #[inline]
    pub(super) fn double(self) -> Result<f64, Damaged> {
        match self {
            Self::Fixed64(bits) => Ok(f64::from_bits(bits)),
            _ => Err(Damaged),
        }
    }

    #[inline]
    pub(super) fn bytes(self) -> Result<&'b [u8], Damaged> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            _ => Err(Damaged),
        }
    }

    /// The doubles of a list, which is packed or has a field for each.
    pub(super) fn doubles(self, mut take: impl FnMut(f64)) -> Result<(), Damaged> {
        match self {
            Self::Bytes(packed) => {
                let (doubles, rest) = packed.as_chunks();
                doubles.iter().for_each(|double| take(f64::from_le_bytes(*double)));
                if rest.is_empty() { Ok(()) } else { Err(Damaged) }
            }
            single => single.double().map(take),
        }
    }

    /// The integers of a list, which is packed or has a field for each.
    pub(super) fn varints(self, mut take: impl FnMut(u64)) -> Result<(), Damaged> {
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

/// The integer that `sint64` writes as this number.
pub(super) fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Reads a varint and goes on behind it.
#[inline]
pub(super) fn varint(rest: &mut &[u8]) -> Result<u64, Damaged> {
    match rest.split_first() {
        Some((first, after)) if *first < 0x80 => {
            *rest = after;
            Ok(u64::from(*first))
        }
        _ => long_varint(rest),
    }
}

fn long_varint(rest: &mut &[u8]) -> Result<u64, Damaged> {
    let mut number = 0;
    for (at, byte) in rest.iter().take(VARINT_BYTES_MAX).enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * at);
        if *byte < 0x80 {
            *rest = rest.get(at + 1..).unwrap_or_default();
            // The tenth byte has the last bit of a number.
            return if at == VARINT_BYTES_MAX - 1 && *byte > 1 { Err(Damaged) } else { Ok(number) };
        }
    }
    Err(Damaged)
}
