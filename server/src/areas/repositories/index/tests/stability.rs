//! The same files give the same bytes, in any order and in every version of the code.

use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::generated::files;
use super::sample::{build, repository};

/// Changes only together with the version of the format, which is the ninth byte.
#[test]
fn the_bytes_of_the_sample_are_known() {
    let bytes = build(repository());
    let known = (bytes[8], bytes.len(), format!("{:016x}", xxh3_64(&bytes)));
    assert_eq!(known, (4, 1656, "b5965da00abf7f1b".to_owned()));
}

proptest! {
    #[test]
    fn the_order_of_the_files_does_not_matter(
        (files, shuffled) in files().prop_flat_map(|files| {
            (Just(files.clone()), Just(files).prop_shuffle())
        })
    ) {
        prop_assert_eq!(build(files), build(shuffled));
    }
}
