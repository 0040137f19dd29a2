//! The versions of the protocol, and how a request declares its version.

use http::HeaderMap;
use http::header::CONTENT_TYPE;

use crate::http::{ApiError, ApiResult, ErrorCode};

const MEDIA: &str = "application/x-protobuf";

/// A version of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// 1.0: every series contains its labels as strings.
    V1,
    /// 2.0: labels refer to a symbol table.
    V2,
}

impl Version {
    /// Returns the name of the version's request message.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::V1 => "prometheus.WriteRequest",
            Self::V2 => "io.prometheus.write.v2.Request",
        }
    }

    /// Returns the number of the field that contains a series.
    #[inline]
    pub(super) fn series_field(self) -> u32 {
        match self {
            Self::V1 => 1,
            Self::V2 => 5,
        }
    }

    /// Returns the version that the content type names; 1.0 if there is none, as old agents send.
    pub(super) fn of(headers: &HeaderMap) -> ApiResult<Self> {
        let Some(value) = headers.get(CONTENT_TYPE) else { return Ok(Self::V1) };
        value.to_str().ok().and_then(Self::parse).ok_or_else(|| {
            let message = format!(
                "Content-Type must be {MEDIA}, alone or with proto={} or proto={}",
                Self::V1.name(),
                Self::V2.name()
            );
            ApiError::new(ErrorCode::UnsupportedMediaType, message)
        })
    }

    fn parse(content_type: &str) -> Option<Self> {
        let mut parts = content_type.split(';').map(str::trim);
        if !parts.next()?.eq_ignore_ascii_case(MEDIA) {
            return None;
        }
        let message = parts.find_map(|part| {
            let (key, value) = part.split_once('=')?;
            key.trim_end().eq_ignore_ascii_case("proto").then(|| value.trim().trim_matches('"'))
        });
        match message {
            None => Some(Self::V1),
            Some(name) => [Self::V1, Self::V2].into_iter().find(|version| version.name() == name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_type_determines_the_version() {
        for (text, version) in [
            ("application/x-protobuf", Some(Version::V1)),
            ("Application/X-Protobuf; charset=utf-8", Some(Version::V1)),
            ("application/x-protobuf;proto=prometheus.WriteRequest", Some(Version::V1)),
            ("application/x-protobuf;proto=io.prometheus.write.v2.Request", Some(Version::V2)),
            (
                "application/x-protobuf ; a=b; Proto = \"io.prometheus.write.v2.Request\"",
                Some(Version::V2),
            ),
            ("application/x-protobuf;proto=io.prometheus.write.v3.Request", None),
            ("application/x-protobuf;proto=", None),
            ("application/json", None),
            ("application/x-protobuffer", None),
            ("", None),
        ] {
            assert_eq!(Version::parse(text), version, "{text}");
        }
    }
}
