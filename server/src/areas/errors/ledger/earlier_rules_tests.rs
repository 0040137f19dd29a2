//! Groups that earlier rules of grouping made.

use super::super::model::GroupHashes;
use super::tests::World;
use crate::http::ErrorSettings;

#[test]
fn a_group_of_earlier_rules_is_found_by_them_until_it_is_deleted() {
    let mut world = World::new(ErrorSettings::default());
    let mut old = world.prepared("E", None, 1_000);
    let GroupHashes { current, earlier } = old.hashes;
    assert_ne!(current, earlier);
    // As the version before made it.
    old.hashes.current = earlier;
    let id = world.tell_prepared(&old).unwrap();
    for _ in 0..2 {
        assert_eq!(world.tell("E", None), id);
        world.ledger.store().unwrap();
        world.crash();
    }
    assert_eq!(world.list().first().map(|group| group.occurrences), Some(3));
    world.ledger.delete(&[id]).unwrap();
    let new = world.tell("E", None);
    assert_ne!(new, id);
    assert_eq!(world.tell("E", None), new);
    let hashes = |state: &super::book::State| state.groups.get(new).map(|new| new.hashes.to_vec());
    assert_eq!(hashes(&world.ledger.state.read()), Some(vec![current]));
}
