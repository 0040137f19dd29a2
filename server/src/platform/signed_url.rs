//! URLs that let their holder read one resource for a time, without a key.
//!
//! ```text
//! <path>?expires=<seconds since 1970>&signature=<43 characters of base64url>
//! ```
//!
//! The signature is the HMAC-SHA-256 of `<path>\n<expires>` under a key that the server made for
//! itself (RFC 2104). It is the only document of the collection `url_keys`, under `1`:
//! `{"key": <64 hexadecimal digits>}`.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use telltale_engine::{Collection, Engine, Error, Expect, TimestampMs, Versioned};

use super::random;

const COLLECTION: Collection = Collection("url_keys");
const ID: &str = "1";
/// The times at which URLs expire are multiples of this, so that the URLs of a resource are the
/// same for a while, and browsers keep what they name. In seconds.
const STEP_SECONDS: i64 = 3_600;
/// Hexadecimal digits of a mark: enough for the servers of one host.
const MARK_CHARS: usize = 8;

/// Signs URLs, and checks them.
pub struct UrlSigner {
    key: [u8; 32],
}

#[derive(Serialize, Deserialize)]
struct KeyDocument {
    key: String,
}

/// Why a URL grants nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlRefusal {
    /// It has no signature, or one of another path, time or server.
    #[error("the URL is not signed")]
    NotSigned,
    /// Its time is over.
    #[error("the signed URL has expired")]
    Expired,
}

impl UrlSigner {
    /// Reads the key of an engine, which is made if there is none. Blocks.
    pub fn open(engine: &Engine) -> Result<Self, Error> {
        match engine.documents().get::<KeyDocument>(COLLECTION, ID) {
            Ok(Some(Versioned { value, .. })) => match from_hex(&value.key) {
                Some(key) => return Ok(Self { key }),
                None => tracing::error!("the key of signed URLs is damaged: it is replaced"),
            },
            Ok(None) => {}
            Err(error @ Error::Corrupt(_)) => {
                tracing::error!(%error, "the key of signed URLs is lost: it is replaced");
            }
            Err(error) => return Err(error),
        }
        let key = random::bytes().map_err(|error| {
            Error::Unavailable(format!("the system provides no randomness: {error}"))
        })?;
        let mut transaction = engine.documents().begin();
        transaction.put(COLLECTION, ID, &KeyDocument { key: to_hex(&key) }, Expect::Any)?;
        if let Err(error) = transaction.commit() {
            tracing::warn!(%error, "the key of signed URLs could not be stored: those of this process end with it");
        }
        Ok(Self { key })
    }

    /// Returns the path with a signature that is valid for at least `lifetime_ms`, and at most an
    /// hour longer.
    pub fn sign(&self, path: &str, now: TimestampMs, lifetime_ms: i64) -> String {
        let seconds = now.0.saturating_add(lifetime_ms).div_euclid(1_000);
        let expires = (seconds.div_euclid(STEP_SECONDS) + 1).saturating_mul(STEP_SECONDS);
        let signature = URL_SAFE_NO_PAD.encode(self.mac(path, expires).finalize().into_bytes());
        format!("{path}?expires={expires}&signature={signature}")
    }

    /// Checks the signature of a path, given the values of its two parameters.
    pub fn check(
        &self,
        path: &str,
        expires: Option<&str>,
        signature: Option<&str>,
        now: TimestampMs,
    ) -> Result<(), UrlRefusal> {
        let (Some(expires), Some(signature)) = (expires, signature) else {
            return Err(UrlRefusal::NotSigned);
        };
        let given = expires;
        let expires: i64 = given.parse().map_err(|_| UrlRefusal::NotSigned)?;
        // Only as the server writes it.
        if expires.to_string() != given {
            return Err(UrlRefusal::NotSigned);
        }
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| UrlRefusal::NotSigned)?;
        let mac = self.mac(path, expires);
        mac.verify_slice(&signature).map_err(|_| UrlRefusal::NotSigned)?;
        match now.0 < expires.saturating_mul(1_000) {
            true => Ok(()),
            false => Err(UrlRefusal::Expired),
        }
    }

    /// Returns a short string that differs between servers, and does not reveal the key.
    pub fn mark(&self) -> String {
        let mac = self.mac("mark", 0).finalize().into_bytes();
        to_hex(&mac).chars().take(MARK_CHARS).collect()
    }

    fn mac(&self, path: &str, expires: i64) -> Hmac<Sha256> {
        let mut mac = match Hmac::<Sha256>::new_from_slice(&self.key) {
            Ok(mac) => mac,
            Err(error) => unreachable!("a key of any length is one: {error}"),
        };
        mac.update(path.as_bytes());
        mac.update(b"\n");
        mac.update(expires.to_string().as_bytes());
        mac
    }
}

impl std::fmt::Debug for UrlSigner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("UrlSigner(…)")
    }
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let digit =
        |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let byte = |[high, low]: &[u8; 2]| Some(digit(*high)? << 4 | digit(*low)?);
    let bytes: Vec<u8> = pairs.iter().map(byte).collect::<Option<_>>()?;
    rest.is_empty().then_some(bytes)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use telltale_engine::Options;
    use tempfile::TempDir;

    use super::*;

    const NOW: TimestampMs = TimestampMs(1_767_323_045_678);

    fn parts(url: &str) -> (&str, &str, &str) {
        let (path, query) = url.split_once("?expires=").unwrap();
        let (expires, signature) = query.split_once("&signature=").unwrap();
        (path, expires, signature)
    }

    #[test]
    fn a_signed_url_is_valid_for_its_path_and_time_also_after_a_restart() {
        let dir = TempDir::new().unwrap();
        let open = || {
            let options = Options { cache_bytes: 16 << 20, ..Options::default() };
            Engine::open(dir.path(), options).unwrap()
        };
        let engine = open();
        let url = UrlSigner::open(&engine).unwrap().sign("/a/b", NOW, 60_000);
        engine.close().unwrap();
        drop(engine);
        let signer = UrlSigner::open(&open()).unwrap();
        assert_eq!(
            signer.sign("/a/b", TimestampMs(NOW.0 + 1), 60_000),
            url,
            "the same for a while"
        );
        let (path, expires, signature) = parts(&url);
        let check = |path, expires, signature, at: i64| {
            signer.check(path, Some(expires), Some(signature), TimestampMs(NOW.0 + at))
        };
        assert_eq!(check(path, expires, signature, 60_000), Ok(()));
        assert_eq!(check(path, expires, signature, 3_700_000), Err(UrlRefusal::Expired));
        let later = (expires.parse::<i64>().unwrap() + 3_600).to_string();
        let not_signed = Err(UrlRefusal::NotSigned);
        assert_eq!(check(path, &later, signature, 0), not_signed);
        assert_eq!(check("/a/c", expires, signature, 0), not_signed);
        for same in [format!("+{expires}"), format!("0{expires}")] {
            let checked = signer.check(path, Some(&same), Some(signature), NOW);
            assert_eq!(checked, not_signed, "{same}");
        }
        for other in
            ["", "é", signature.get(1..).unwrap(), &format!("{signature}A"), &"A".repeat(43)]
        {
            assert_eq!(check(path, expires, other, 0), not_signed, "{other}");
        }
        assert_eq!(signer.check(path, Some(expires), None, NOW), not_signed);
        assert_eq!(signer.check(path, Some("x"), Some(signature), NOW), not_signed);
    }
}
