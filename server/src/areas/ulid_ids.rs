//! Types of ids: a prefix and a ULID.

/// Declares types of ids, visible in the folder of the module that calls it: prefix, code of
/// resources that do not exist, and what messages call one.
macro_rules! ulid_ids {
    ($(#[doc = $doc:literal] $Id:ident, $prefix:literal, $missing:literal, $noun:literal;)+) => {$(
        #[doc = $doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(super) struct $Id(pub(super) u128);

        impl $Id {
            /// The prefix of the text.
            const PREFIX: &'static str = $prefix;

            /// Returns the id as text.
            pub(super) fn text(self) -> String {
                $crate::platform::ids::prefixed(Self::PREFIX, self.0)
            }

            /// Parses the text of an id.
            pub(super) fn parse(text: &str) -> Option<Self> {
                let number = text.strip_prefix(Self::PREFIX);
                let id = number.and_then($crate::platform::ids::parse_ulid).map(Self)?;
                (id.text() == text).then_some(id)
            }
        }

        impl $crate::http::PathParam for $Id {
            const RESOURCE: &'static $crate::http::Resource =
                &$crate::http::Resource::new($missing, $noun);

            fn from_path(text: &str) -> Option<Self> {
                Self::parse(text)
            }
        }
    )+};
}

/// Lets ids be those of stored documents, which were valid when they were stored.
macro_rules! document_ids {
    ($($Id:ident),+) => {$(
        impl $Id {
            /// Returns the id of a stored document.
            pub(super) fn of_document(text: &str) -> Self {
                match Self::parse(text) {
                    Some(id) => id,
                    None => panic!("{text:?} is not an id that a document is stored under"),
                }
            }
        }
    )+};
}

pub(super) use {document_ids, ulid_ids};
