//! One directory: the names in it, and which of them a power loss leaves.

use std::collections::BTreeMap;

use crate::random::Random;

/// The id of a file or directory.
pub(crate) type NodeId = u64;

/// A change of names that has not been followed by a sync of the directory.
#[derive(Clone, Debug)]
enum NameChange {
    Put(String, NodeId),
    Remove(String),
    /// Both changes or neither, as `rename` promises.
    Move(String, String, NodeId),
}

/// The names in a directory, as programs see them and as the disk has them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    live: BTreeMap<String, NodeId>,
    durable: BTreeMap<String, NodeId>,
    pending: Vec<NameChange>,
}

/// Which changes of names a power loss keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The first changes of each directory up to some point, as in file systems with a journal.
    Journal,
    /// Any of them: the minimum that POSIX promises.
    Any,
}

impl Names {
    pub(crate) fn get(&self, name: &str) -> Option<NodeId> {
        self.live.get(name).copied()
    }

    /// Returns every file and directory that the directory may contain now or after a power loss.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = NodeId> {
        let pending = self.pending.iter().filter_map(|change| match change {
            NameChange::Put(_, node) | NameChange::Move(_, _, node) => Some(*node),
            NameChange::Remove(_) => None,
        });
        self.live.values().chain(self.durable.values()).copied().chain(pending)
    }

    pub(crate) fn put(&mut self, name: &str, node: NodeId) {
        self.live.insert(name.to_owned(), node);
        self.pending.push(NameChange::Put(name.to_owned(), node));
    }

    pub(crate) fn remove(&mut self, name: &str) -> Option<NodeId> {
        let removed = self.live.remove(name)?;
        self.pending.push(NameChange::Remove(name.to_owned()));
        Some(removed)
    }

    /// Renames within the directory.
    pub(crate) fn rename(&mut self, from: &str, to: &str) {
        if let Some(node) = self.live.remove(from) {
            self.live.insert(to.to_owned(), node);
            self.pending.push(NameChange::Move(from.to_owned(), to.to_owned(), node));
        }
    }

    /// Adds a name that existed before the simulation.
    pub(crate) fn put_durable(&mut self, name: &str, node: NodeId) {
        self.live.insert(name.to_owned(), node);
        self.durable.insert(name.to_owned(), node);
    }

    pub(crate) fn sync(&mut self) {
        self.durable = self.live.clone();
        self.pending.clear();
    }

    pub(crate) fn after_power_loss(
        &self,
        random: &mut Random,
        order: Order,
    ) -> BTreeMap<String, NodeId> {
        let mut names = self.durable.clone();
        let kept = *random.pick(&[0, 50, 100]);
        let cut = random.index(self.pending.len() + 1);
        for (at, change) in self.pending.iter().enumerate() {
            let happened = match order {
                Order::Journal => at < cut,
                Order::Any => random.percent(kept),
            };
            match change {
                _ if !happened => {}
                NameChange::Put(name, node) => {
                    names.insert(name.clone(), *node);
                }
                NameChange::Remove(name) => {
                    names.remove(name);
                }
                NameChange::Move(from, to, node) => {
                    names.remove(from);
                    names.insert(to.clone(), *node);
                }
            }
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsynced_names_may_be_lost_and_renames_are_atomic() {
        let mut names = Names::default();
        names.put("CURRENT", 1);
        names.sync();
        names.put("temporary", 2);
        names.rename("temporary", "CURRENT");
        let left: Vec<_> = (0..60)
            .map(|seed| names.after_power_loss(&mut Random::new(seed), Order::Journal))
            .collect();
        assert!(left.iter().all(|names| matches!(names["CURRENT"], 1 | 2)));
        assert!(left.iter().any(|names| names["CURRENT"] == 1 && names.len() == 1));
        assert!(left.iter().any(|names| names["CURRENT"] == 1 && names.len() == 2));
        assert!(left.iter().any(|names| names["CURRENT"] == 2 && names.len() == 1));
        names.sync();
        assert_eq!(names.after_power_loss(&mut Random::new(0), Order::Any)["CURRENT"], 2);
    }
}
