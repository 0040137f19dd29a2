//! The files and folders below the root of a disk, found by path.

use std::collections::{BTreeMap, BTreeSet};

use crate::inode::Inode;
use crate::names::{Names, NodeId, Order};
use crate::random::Random;

/// The root of every tree.
pub(crate) const ROOT: NodeId = 0;

#[derive(Clone, Debug)]
enum Node {
    File(Inode),
    Folder(Names),
}

/// All of a disk.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    nodes: BTreeMap<NodeId, Node>,
    next: NodeId,
}

/// What is found below a folder: paths without the root, each with the content of a file, or none for a folder.
pub(crate) type Content = BTreeMap<String, Option<Vec<u8>>>;

impl Default for Tree {
    fn default() -> Self {
        Self { nodes: BTreeMap::from([(ROOT, Node::Folder(Names::default()))]), next: ROOT + 1 }
    }
}

fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".")
}

/// The folder that a path names, and the name in it.
fn split(path: &str) -> (&str, &str) {
    path.trim_end_matches('/').rsplit_once('/').unwrap_or(("", path.trim_end_matches('/')))
}

impl Tree {
    /// A tree whose content is durable.
    pub(crate) fn of(content: &Content) -> Self {
        let mut tree = Self::default();
        for (path, bytes) in content {
            let node = match bytes {
                Some(bytes) => Node::File(Inode::durable(bytes.clone())),
                None => Node::Folder(Names::default()),
            };
            let node = tree.add(node);
            let (folder, name) = split(path);
            if let Some(names) = tree.folder_mut(folder) {
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

    fn names(&self, folder: NodeId) -> Option<&Names> {
        match self.nodes.get(&folder)? {
            Node::Folder(names) => Some(names),
            Node::File(_) => None,
        }
    }

    fn folder_mut(&mut self, path: &str) -> Option<&mut Names> {
        let id = self.find(path)?;
        self.names_mut(id)
    }

    pub(crate) fn names_mut(&mut self, folder: NodeId) -> Option<&mut Names> {
        match self.nodes.get_mut(&folder)? {
            Node::Folder(names) => Some(names),
            Node::File(_) => None,
        }
    }

    pub(crate) fn file_mut(&mut self, file: NodeId) -> Option<&mut Inode> {
        match self.nodes.get_mut(&file)? {
            Node::File(inode) => Some(inode),
            Node::Folder(_) => None,
        }
    }

    /// A new and empty file; the one that is there when there is one.
    pub(crate) fn create(&mut self, path: &str) -> NodeId {
        self.find(path).unwrap_or_else(|| {
            let node = self.add(Node::File(Inode::default()));
            self.put(path, node);
            node
        })
    }

    pub(crate) fn create_folder(&mut self, path: &str) {
        let node = self.add(Node::Folder(Names::default()));
        self.put(path, node);
    }

    fn put(&mut self, path: &str, node: NodeId) {
        let (folder, name) = split(path);
        if let Some(names) = self.folder_mut(folder) {
            names.put(name, node);
        }
    }

    pub(crate) fn remove(&mut self, path: &str) {
        let (folder, name) = split(path);
        if let Some(names) = self.folder_mut(folder) {
            names.remove(name);
        }
    }

    pub(crate) fn link(&mut self, from: &str, to: &str) {
        if let Some(node) = self.find(from) {
            self.put(to, node);
        }
    }

    pub(crate) fn rename(&mut self, from: &str, to: &str) {
        let ((from_folder, from_name), (to_folder, to_name)) = (split(from), split(to));
        if self.find(from_folder) == self.find(to_folder) {
            if let Some(names) = self.folder_mut(from_folder) {
                names.rename(from_name, to_name);
            }
        } else if let Some(node) = self.find(from) {
            self.remove(from);
            self.put(to, node);
        }
    }

    /// Forgets files that have no name any more.
    pub(crate) fn forget_unnamed(&mut self, open: &BTreeSet<NodeId>) {
        let mut named: BTreeSet<NodeId> = BTreeSet::from([ROOT]);
        for node in self.nodes.values() {
            if let Node::Folder(names) = node {
                named.extend(names.nodes());
            }
        }
        self.nodes.retain(|id, _| named.contains(id) || open.contains(id));
    }

    /// What a power loss leaves. The same file under two names has the same content under both.
    pub(crate) fn after_power_loss(&self, random: &mut Random, order: Order) -> Content {
        let mut loss =
            PowerLoss { tree: self, random, order, decided: BTreeMap::new(), left: Content::new() };
        loss.lose("", ROOT);
        loss.left
    }
}

/// A power loss under way.
struct PowerLoss<'a> {
    tree: &'a Tree,
    random: &'a mut Random,
    order: Order,
    /// The content of files that were met, for their other names.
    decided: BTreeMap<NodeId, Vec<u8>>,
    left: Content,
}

impl PowerLoss<'_> {
    fn lose(&mut self, path: &str, folder: NodeId) {
        let Some(names) = self.tree.names(folder) else { return };
        for (name, node) in names.after_power_loss(self.random, self.order) {
            let path = format!("{path}/{name}");
            match self.tree.nodes.get(&node) {
                Some(Node::File(inode)) => {
                    let random = &mut *self.random;
                    let content =
                        self.decided.entry(node).or_insert_with(|| inode.after_power_loss(random));
                    self.left.insert(path, Some(content.clone()));
                }
                Some(Node::Folder(_)) => {
                    self.left.insert(path.clone(), None);
                    self.lose(&path, node);
                }
                None => {}
            }
        }
    }
}
