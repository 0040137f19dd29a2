//! Encoding with verification: new bytes are decoded and compared before anything relies on them.
//!
//! The output of a seal or a compaction replaces the only other copy: the log is deleted, the old
//! blocks are removed. New bytes are therefore first decoded and compared with their source. When
//! they differ, the source is encoded again without compression, so that a fault in a compressor
//! does not stop all seals. When these bytes differ too, the encoding fails and the source is kept.

use super::integers::Effort;
use super::{CodecError, CodecResult};

/// Encodes with `effort` and verifies the bytes with `check`, which decodes and compares them.
/// `what` names the encoded object in errors and in the log.
pub(crate) fn encode_verified(
    effort: Effort,
    mut encode: impl FnMut(Effort) -> CodecResult<Vec<u8>>,
    mut check: impl FnMut(&[u8]) -> CodecResult<()>,
    what: impl Fn() -> String,
) -> CodecResult<Vec<u8>> {
    let mut attempt = |effort| {
        let bytes = encode(effort)?;
        #[cfg(test)]
        let bytes = sabotage::apply(bytes, effort);
        check(&bytes).map(|()| bytes)
    };
    let first = match attempt(effort) {
        Ok(bytes) => return Ok(bytes),
        Err(error) => error,
    };
    tracing::error!(
        "{} does not read back as it was encoded: {first}; it is encoded again without compression",
        what()
    );
    attempt(Effort::Plain).map_err(|second| {
        let reason = format!("{} does not read back as it was encoded: {second}", what());
        tracing::error!("{reason}; the data it was made from is kept");
        CodecError::encoder(reason)
    })
}

/// Fails unless `same`; `what` names the values compared.
pub(crate) fn expect_same(same: bool, what: &str) -> CodecResult<()> {
    if same {
        Ok(())
    } else {
        Err(CodecError::new(format!("decoded {what} differ from the encoded ones")))
    }
}

/// Returns whether two columns contain the same doubles, bit for bit.
pub(crate) fn same_bits(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

/// Corrupts what the current thread encodes, for tests.
#[cfg(test)]
pub(crate) mod sabotage {
    use std::cell::Cell;

    use super::Effort;

    /// Which encodings are corrupted.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Sabotage {
        None,
        /// All but the uncompressed encoding.
        Compressed,
        All,
    }

    thread_local! {
        static CURRENT: Cell<Sabotage> = const { Cell::new(Sabotage::None) };
    }

    /// Sets which encodings are corrupted from now on.
    pub(crate) fn set(sabotage: Sabotage) {
        CURRENT.set(sabotage);
    }

    pub(super) fn apply(mut bytes: Vec<u8>, effort: Effort) -> Vec<u8> {
        let hit = match CURRENT.get() {
            Sabotage::None => false,
            Sabotage::Compressed => effort != Effort::Plain,
            Sabotage::All => true,
        };
        if hit && let Some(last) = bytes.last_mut() {
            *last ^= 1;
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(good: impl Fn(Effort) -> bool) -> (CodecResult<Vec<u8>>, Vec<Effort>) {
        let mut tried = Vec::new();
        let encode = |effort| {
            tried.push(effort);
            Ok(vec![u8::from(good(effort))])
        };
        let check = |bytes: &[u8]| expect_same(bytes == [1], "values");
        let outcome = encode_verified(Effort::Merge, encode, check, || "block 7".to_owned());
        (outcome, tried)
    }

    #[test]
    fn a_faulty_encoding_is_retried_without_compression_and_then_fails() {
        assert_eq!(attempt(|_| true), (Ok(vec![1]), vec![Effort::Merge]));
        let both = vec![Effort::Merge, Effort::Plain];
        assert_eq!(attempt(|effort| effort == Effort::Plain), (Ok(vec![1]), both.clone()));
        let (outcome, tried) = attempt(|_| false);
        let error = outcome.unwrap_err();
        assert!(error.is_encoder());
        assert!(error.to_string().starts_with("block 7 does not read back"), "{error}");
        assert_eq!(tried, both);
    }
}
