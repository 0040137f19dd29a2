//! The signatures of webhook requests, as Standard Webhooks defines them: HMAC-SHA256 over
//! `{id}.{timestamp}.{body}`, in base64 after `v1,`. The secret is shown as `whsec_` and base64.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use telltale_engine::TimestampMs;

/// The start of a secret as it is shown.
const PREFIX: &str = "whsec_";
/// Bytes that a secret may have, part of the standard.
const SECRET_BYTES: std::ops::RangeInclusive<usize> = 24..=64;
/// Bytes of a generated secret: the size of the hash.
const GENERATED_BYTES: usize = 32;

/// A secret that requests are signed with. Its debug form is empty.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningSecret(Vec<u8>);

/// A secret that was replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviousSecret {
    pub secret: SigningSecret,
    /// The instant from which on requests are no longer signed with it.
    pub valid_until: TimestampMs,
}

/// The error for a string that is not a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be {PREFIX} followed by the base64 of {} to {} bytes",
    SECRET_BYTES.start(),
    SECRET_BYTES.end()
)]
pub struct MalformedSecret;

impl SigningSecret {
    /// Makes a secret of unpredictable bytes.
    pub fn from_random(bytes: [u8; GENERATED_BYTES]) -> Self {
        Self(bytes.to_vec())
    }

    /// Parses a secret as [`Self::reveal`] returns it.
    pub fn parse(text: &str) -> Result<Self, MalformedSecret> {
        let encoded = text.strip_prefix(PREFIX).ok_or(MalformedSecret)?;
        let bytes = STANDARD.decode(encoded).map_err(|_| MalformedSecret)?;
        if SECRET_BYTES.contains(&bytes.len()) { Ok(Self(bytes)) } else { Err(MalformedSecret) }
    }

    /// Returns the secret as text, to be shown once and to be stored.
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}", STANDARD.encode(&self.0))
    }

    /// Returns the signature of a message: `v1,` and base64.
    fn sign(&self, id: &str, unix_seconds: i64, body: &[u8]) -> String {
        let mut mac = match Hmac::<Sha256>::new_from_slice(&self.0) {
            Ok(mac) => mac,
            Err(error) => panic!("HMAC takes keys of every length: {error}"),
        };
        mac.update(format!("{id}.{unix_seconds}.").as_bytes());
        mac.update(body);
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

impl fmt::Debug for SigningSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// Returns the value of `webhook-signature`: a signature for each secret, separated by spaces.
pub(super) fn signatures(
    secrets: &[&SigningSecret],
    id: &str,
    unix_seconds: i64,
    body: &[u8],
) -> String {
    let each = secrets.iter().map(|secret| secret.sign(id, unix_seconds, body));
    each.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification of Standard Webhooks.
    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const BODY: &[u8] = br#"{"test": 2432232314}"#;
    const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

    #[test]
    fn the_example_of_the_standard_has_its_signature() {
        let secret = SigningSecret::parse(SECRET).unwrap();
        assert_eq!(signatures(&[&secret], ID, 1_614_265_330, BODY), SIGNATURE);
        for (id, time, body) in [
            ("msg_other", 1_614_265_330, BODY),
            (ID, 1_614_265_331, BODY),
            (ID, 1_614_265_330, b"{}".as_slice()),
        ] {
            assert_ne!(signatures(&[&secret], id, time, body), SIGNATURE);
        }
    }

    #[test]
    fn each_secret_adds_a_signature() {
        let current = SigningSecret::from_random([7; 32]);
        let previous = SigningSecret::parse(SECRET).unwrap();
        let both = signatures(&[&current, &previous], ID, 1_614_265_330, BODY);
        let expected = format!("{} {SIGNATURE}", current.sign(ID, 1_614_265_330, BODY));
        assert_eq!(both, expected);
    }

    #[test]
    fn secrets_have_24_to_64_bytes() {
        for (bytes, is_valid) in [(0, false), (23, false), (24, true), (64, true), (65, false)] {
            let text = format!("whsec_{}", STANDARD.encode(vec![1; bytes]));
            let read = SigningSecret::parse(&text).map(|secret| secret.reveal());
            assert_eq!(read, if is_valid { Ok(text) } else { Err(MalformedSecret) });
        }
        let error = "must be whsec_ followed by the base64 of 24 to 64 bytes";
        for text in [
            "",
            "whsec_",
            "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa-w",
            "whsec_…LaSw",
        ] {
            assert_eq!(SigningSecret::parse(text).unwrap_err().to_string(), error);
        }
    }

    #[test]
    fn secrets_are_hidden_from_logs() {
        assert_eq!(format!("{:?}", SigningSecret::from_random([7; 32])), "…");
    }
}
