//! Occurrences of groups that are being merged or deleted.

use super::super::error::ErrorsError;
use super::super::model::GroupId;
use super::tests::World;
use crate::http::ErrorSettings;

fn occurrences(world: &World, id: GroupId) -> Option<u64> {
    world.ledger.get(id).map(|group| group.occurrences)
}

#[test]
fn what_waits_for_a_change_of_its_group_is_bounded_and_the_rest_is_refused_before_it_is_stored() {
    let mut world = World::new(ErrorSettings::default());
    let (a, b) = (world.tell("A", None), world.tell("B", None));
    let memory_bytes = world.ledger.memory_bytes();
    {
        let mut state = world.ledger.state.write();
        state.deferred.bytes_max = 1;
        state.hold_back([a].into_iter());
    }
    let admitted = world.stored(&world.prepared("A", None, 1_000)).unwrap();
    assert_eq!(world.tell("A", Some("ann")), a);
    assert_eq!(occurrences(&world, a), Some(1));
    assert!(world.ledger.memory_bytes() > memory_bytes, "what waits counts as memory");
    let refused = world.prepared("A", None, 1_001);
    let mut batch = world.ledger.engine.event_batch();
    let outcome = world.ledger.admit(&refused, &mut batch);
    assert!(matches!(outcome, Err(ErrorsError::GroupBusy)), "{outcome:?}");
    // Those that were on their way count all the same, and nobody else is refused.
    world.ledger.count(&[admitted]);
    assert_eq!(world.tell("B", None), b);
    assert_eq!(occurrences(&world, b), Some(2));
    world.ledger.let_go(world.ledger.state.write());
    assert_eq!(occurrences(&world, a), Some(3));
    assert_eq!(world.ledger.state.read().deferred.bytes(), 0);
    // Who was refused sends the same again.
    assert_eq!(world.tell_prepared(&refused), Some(a));
    assert_eq!(occurrences(&world, a), Some(4));
    world.crash();
    assert_eq!((occurrences(&world, a), occurrences(&world, b)), (Some(4), Some(2)));
}
