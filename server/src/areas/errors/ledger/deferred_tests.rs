//! Tests of occurrences of groups that are being merged or deleted.

use super::super::error::ErrorsError;
use super::super::model::GroupId;
use super::tests::Fixture;
use crate::areas::errors::ErrorSettings;

fn occurrences(fixture: &Fixture, id: GroupId) -> Option<u64> {
    fixture.ledger.get(id).map(|group| group.occurrences)
}

#[test]
fn deferred_occurrences_are_bounded_and_further_ones_are_refused_before_they_are_stored() {
    let mut fixture = Fixture::new(ErrorSettings::default());
    let (a, b) = (fixture.report("A", None), fixture.report("B", None));
    let memory_bytes = fixture.ledger.memory_bytes();
    {
        let mut state = fixture.ledger.state.write();
        state.deferred.bytes_max = 1;
        state.defer([a].into_iter());
    }
    let admitted = fixture.stored(&fixture.prepared("A", None, 1_000)).unwrap();
    assert_eq!(fixture.report("A", Some("ann")), a);
    assert_eq!(occurrences(&fixture, a), Some(1));
    assert!(fixture.ledger.memory_bytes() > memory_bytes, "deferred occurrences count as memory");
    let refused = fixture.prepared("A", None, 1_001);
    let mut batch = fixture.ledger.engine.event_batch();
    let outcome = fixture.ledger.admit(&refused, &mut batch);
    assert!(matches!(outcome, Err(ErrorsError::GroupBusy)), "{outcome:?}");
    // Occurrences admitted before still count, and other groups are unaffected.
    fixture.ledger.count(&[admitted]);
    assert_eq!(fixture.report("B", None), b);
    assert_eq!(occurrences(&fixture, b), Some(2));
    fixture.ledger.release_deferred(fixture.ledger.state.write());
    assert_eq!(occurrences(&fixture, a), Some(3));
    assert_eq!(fixture.ledger.state.read().deferred.bytes(), 0);
    // The sender of the refused occurrence retries.
    assert_eq!(fixture.report_prepared(&refused), Some(a));
    assert_eq!(occurrences(&fixture, a), Some(4));
    fixture.crash();
    assert_eq!((occurrences(&fixture, a), occurrences(&fixture, b)), (Some(4), Some(2)));
}
