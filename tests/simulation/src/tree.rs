//! The files and directories below the root of a disk, by path.

use std::collections::{BTreeMap, BTreeSet};

use crate::inode::Inode;
use crate::names::{Names, NodeId, Order};
use crate::random::Random;

/// The root of every tree.
pub(crate) const ROOT: NodeId = 0;

#[derive(Clone, Debug)]
enum Node {
    File(Inode),
    Directory(Names),
}

/// All files and directories of a disk.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    nodes: BTreeMap<NodeId, Node>,
    next: NodeId,
}

/// The contents of a directory tree: from paths below the root to the content of a file, or `None`
/// for a directory.
pub(crate) type Content = BTreeMap<String, Option<Vec<u8>>>;

impl Default for Tree {
    fn default() -> Self {
        Self { nodes: BTreeMap::from([(ROOT, Node::Directory(Names::default()))]), next: ROOT + 1 }
    }
}

fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".")
}

/// Splits a path into its parent directory and its last name.
fn split(path: &str) -> (&str, &str) {
    path.trim_end_matches('/').rsplit_once('/').unwrap_or(("", path.trim_end_matches('/')))
}

impl Tree {
    /// Returns a tree whose contents are durable.
    pub(crate) fn of(content: &Content) -> Self {
        let mut tree = Self::default();
        for (path, bytes) in content {
            let node = match bytes {
                Some(bytes) => Node::File(Inode::durable(bytes.clone())),
                None => Node::Directory(Names::default()),
            };
            let node = tree.add(node);
            let (dir, name) = split(path);
            if let Some(names) = tree.dir_mut(dir) {
                names.put_durable(name, node);
            }
        }
        tree
    }

    fn add(&mut self, node: Node) -> NodeId {
        let id = self.next;
        self.next += 1;
        self.nodes.insert(id, node);
        id
    }

    pub(crate) fn find(&self, path: &str) -> Option<NodeId> {
        parts(path).try_fold(ROOT, |at, part| self.names(at)?.get(part))
    }

    fn names(&self, dir: NodeId) -> Option<&Names> {
        match self.nodes.get(&dir)? {
            Node::Directory(names) => Some(names),
            Node::File(_) => None,
        }
    }

    fn dir_mut(&mut self, path: &str) -> Option<&mut Names> {
        let id = self.find(path)?;
        self.names_mut(id)
    }

    pub(crate) fn names_mut(&mut self, dir: NodeId) -> Option<&mut Names> {
        match self.nodes.get_mut(&dir)? {
            Node::Directory(names) => Some(names),
            Node::File(_) => None,
        }
    }

    pub(crate) fn file_mut(&mut self, file: NodeId) -> Option<&mut Inode> {
        match self.nodes.get_mut(&file)? {
            Node::File(inode) => Some(inode),
            Node::Directory(_) => None,
        }
    }

    /// Returns the file at `path`, which is created empty if it does not exist.
    pub(crate) fn create(&mut self, path: &str) -> NodeId {
        self.find(path).unwrap_or_else(|| {
            let node = self.add(Node::File(Inode::default()));
            self.put(path, node);
            node
        })
    }

    pub(crate) fn create_dir(&mut self, path: &str) {
        let node = self.add(Node::Directory(Names::default()));
        self.put(path, node);
    }

    fn put(&mut self, path: &str, node: NodeId) {
        let (dir, name) = split(path);
        if let Some(names) = self.dir_mut(dir) {
            names.put(name, node);
        }
    }

    pub(crate) fn remove(&mut self, path: &str) {
        let (dir, name) = split(path);
        if let Some(names) = self.dir_mut(dir) {
            names.remove(name);
        }
    }

    pub(crate) fn link(&mut self, from: &str, to: &str) {
        if let Some(node) = self.find(from) {
            self.put(to, node);
        }
    }

    pub(crate) fn rename(&mut self, from: &str, to: &str) {
        let ((from_dir, from_name), (to_dir, to_name)) = (split(from), split(to));
        if self.find(from_dir) == self.find(to_dir) {
            if let Some(names) = self.dir_mut(from_dir) {
                names.rename(from_name, to_name);
            }
        } else if let Some(node) = self.find(from) {
            self.remove(from);
            self.put(to, node);
        }
    }

    /// Drops files that have no name and are not open.
    pub(crate) fn drop_unnamed(&mut self, open: &BTreeSet<NodeId>) {
        let mut named: BTreeSet<NodeId> = BTreeSet::from([ROOT]);
        for node in self.nodes.values() {
            if let Node::Directory(names) = node {
                named.extend(names.nodes());
            }
        }
        self.nodes.retain(|id, _| named.contains(id) || open.contains(id));
    }

    /// Returns what a power loss leaves. A file with two names has the same content under both.
    pub(crate) fn after_power_loss(&self, random: &mut Random, order: Order) -> Content {
        let mut loss =
            PowerLoss { tree: self, random, order, decided: BTreeMap::new(), left: Content::new() };
        loss.lose("", ROOT);
        loss.left
    }
}

/// A power loss in progress.
struct PowerLoss<'a> {
    tree: &'a Tree,
    random: &'a mut Random,
    order: Order,
    /// The content of files already visited, for their other names.
    decided: BTreeMap<NodeId, Vec<u8>>,
    left: Content,
}

impl PowerLoss<'_> {
    fn lose(&mut self, path: &str, dir: NodeId) {
        let Some(names) = self.tree.names(dir) else { return };
        for (name, node) in names.after_power_loss(self.random, self.order) {
            let path = format!("{path}/{name}");
            match self.tree.nodes.get(&node) {
                Some(Node::File(inode)) => {
                    let random = &mut *self.random;
                    let content =
                        self.decided.entry(node).or_insert_with(|| inode.after_power_loss(random));
                    self.left.insert(path, Some(content.clone()));
                }
                Some(Node::Directory(_)) => {
                    self.left.insert(path.clone(), None);
                    self.lose(&path, node);
                }
                None => {}
            }
        }
    }
}
