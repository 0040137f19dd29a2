//! Tests of groups that earlier grouping rules created.

use super::super::model::GroupHashes;
use super::tests::Fixture;
use crate::areas::errors::ErrorSettings;

#[test]
fn a_group_of_version_1_is_found_by_its_hash_until_it_is_deleted() {
    let mut fixture = Fixture::new(ErrorSettings::default());
    let mut old = fixture.prepared("E", None, 1_000);
    let GroupHashes { current, earlier } = old.hashes;
    assert_ne!(current, earlier);
    // The group as version 1 created it.
    old.hashes.current = earlier;
    let id = fixture.report_prepared(&old).unwrap();
    for _ in 0..2 {
        assert_eq!(fixture.report("E", None), id);
        fixture.ledger.store().unwrap();
        fixture.crash();
    }
    assert_eq!(fixture.list().first().map(|group| group.occurrences), Some(3));
    fixture.ledger.delete(&[id]).unwrap();
    let new = fixture.report("E", None);
    assert_ne!(new, id);
    assert_eq!(fixture.report("E", None), new);
    let hashes =
        |state: &super::book::LedgerState| state.groups.get(new).map(|new| new.hashes.to_vec());
    assert_eq!(hashes(&fixture.ledger.state.read()), Some(vec![current]));
}
