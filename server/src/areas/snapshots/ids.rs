//! The ids of the area's resources, one type each.

use sha2::{Digest as _, Sha256};
use url::Url;

use crate::areas::ulid_ids::{document_ids, ulid_ids};
use crate::platform::ids;

ulid_ids! {
    /// The id of a snapshot: `snap_` and a ULID.
    SnapshotId, "snap_", "snapshot_not_found", "snapshot";
    /// The id of a comparison: `cmp_` and a ULID.
    ComparisonId, "cmp_", "comparison_not_found", "comparison";
    /// The id of a baseline: `base_` and a ULID.
    BaselineId, "base_", "baseline_not_found", "baseline";
}

document_ids!(SnapshotId, ComparisonId, BaselineId);

/// The pattern of the text of a [`PageId`].
pub(super) const PAGE_ID: &str = "^page_[0-7][0-9A-HJKMNP-TV-Z]{25}$";
/// The pattern of the text of a [`SnapshotId`].
pub(super) const SNAPSHOT_ID: &str = "^snap_[0-7][0-9A-HJKMNP-TV-Z]{25}$";

/// The id of a page: `page_` and 26 characters, which depend on its URL only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct PageId(u128);

impl PageId {
    const PREFIX: &'static str = "page_";

    /// Returns the id of the page of a URL; `None` if it is not valid. What follows `#` does not
    /// count.
    pub(super) fn of(url: &str) -> Option<Self> {
        let mut page = Url::parse(url).ok()?;
        page.set_fragment(None);
        let digest: [u8; 32] = Sha256::digest(page.as_str().as_bytes()).into();
        let [first, _] = digest.as_chunks::<16>().0 else { unreachable!("32 bytes are twice 16") };
        Some(Self(u128::from_be_bytes(*first)))
    }

    /// Returns the id as text.
    pub(super) fn text(self) -> String {
        ids::prefixed(Self::PREFIX, self.0)
    }

    /// Parses the text of an id.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let id = text.strip_prefix(Self::PREFIX).and_then(ids::parse_ulid).map(Self)?;
        (id.text() == text).then_some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_one_per_normalised_url() {
        let of = |url: &str| PageId::of(url).unwrap();
        let page = of("https://shop.example.com/a?b=c");
        for same in
            ["HTTPS://Shop.Example.com:443/a?b=c", "https://shop.example.com/x/../a?b=c#top"]
        {
            assert_eq!(of(same), page, "{same}");
        }
        for other in ["http://shop.example.com/a?b=c", "https://shop.example.com/a?b=d"] {
            assert_ne!(of(other), page, "{other}");
        }
        let text = page.text();
        assert_eq!((text.len(), PageId::parse(&text)), (31, Some(page)));
        for wrong in ["page_", "snap_00000000000000000000000001", "page_0"] {
            assert_eq!(PageId::parse(wrong), None);
        }
    }
}
