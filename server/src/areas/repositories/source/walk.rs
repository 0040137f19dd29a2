//! The walk through a tree: from node to node with a cursor, with a stack of the symbols that
//! contain the present one.

use std::collections::HashMap;

use tree_sitter::{Node, Tree};

use super::aliases::aliases;
use super::docs;
use super::grammar::{Definition, Place, Rules};
use super::limits;
use super::macro_items::{MacroItems, item_tokens};
use super::model::{
    FileOutline, Language, LineRange, Reference, ReferenceKind, Symbol, SymbolKind,
};
use super::nodes::{Text, first_line, last_line, name, named_children, one_line};

/// A symbol, or a node that contains definitions, in which the walk is.
#[derive(Debug)]
struct Open {
    depth: usize,
    /// The symbol; `None` of a container that is none.
    symbol: Option<u32>,
    /// The name of the type that definitions in it belong to.
    container: Option<String>,
    kind: Option<SymbolKind>,
    is_test: bool,
}

/// The state of the walk at a depth of the tree: of the node at which the walk is, and of its
/// siblings before it.
#[derive(Debug)]
struct Level<'t> {
    node: Node<'t>,
    /// The comments and attributes right before the node.
    leading: Vec<Node<'t>>,
    /// The last word or access specifier before the node.
    marker: Option<Node<'t>>,
    /// The row in which the last sibling ended that is no comment.
    code_ends_in: Option<usize>,
}

/// A walk.
struct Walk<'a, 't> {
    rules: Rules,
    text: Text<'a>,
    path: &'a str,
    outline: FileOutline,
    open: Vec<Open>,
    /// From the root to the present node.
    levels: Vec<Level<'t>>,
    /// The nodes of these levels but the last.
    around: Vec<Node<'t>>,
    is_test_file: bool,
    /// The items in macros.
    macros: &'t MacroItems,
    /// How many nodes were visited.
    visited: usize,
}

/// Walks through the tree of a file, and those of the items in its macros.
pub(super) fn outline<'t>(
    language: Language,
    path: &str,
    text: &str,
    tree: &'t Tree,
    macros: &'t MacroItems,
) -> FileOutline {
    let rules = language.rules();
    let text = Text(text);
    let root = tree.root_node();
    let outline = FileOutline {
        language: Some(language),
        doc: docs::of_file(root, rules.docs, &text),
        is_complete: true,
        ..FileOutline::default()
    };
    let mut walk = Walk {
        rules,
        text,
        path,
        outline,
        open: Vec::new(),
        levels: Vec::new(),
        around: Vec::new(),
        is_test_file: is_test_path(path),
        macros,
        visited: 0,
    };
    walk.outline.is_complete = walk.run(root, 0);
    walk.finish()
}

/// Returns whether a file consists of tests, by the names that tools agree on.
fn is_test_path(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let file = parts.next().unwrap_or(path);
    let stem = file.split('.').next().unwrap_or(file);
    let is_test_directory =
        |part: &str| matches!(part, "test" | "tests" | "spec" | "specs" | "__tests__" | "testing");
    parts.any(is_test_directory)
        || stem == "tests"
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_tests")
        || stem.ends_with("_spec")
        || stem.ends_with("Test")
        || stem.ends_with("Tests")
        || file.contains(".test.")
        || file.contains(".spec.")
}

impl<'t> Walk<'_, 't> {
    /// Visits a node and all in it. `start` is the depth of the node. Returns whether all were
    /// visited.
    fn run(&mut self, root: Node<'t>, start: usize) -> bool {
        let mut cursor = root.walk();
        let mut depth = start;
        loop {
            self.visited += 1;
            let is_full = self.outline.symbols.len() >= limits::SYMBOLS_MAX
                || self.visited > limits::NODES_MAX;
            if is_full {
                return false;
            }
            let node = cursor.node();
            self.visit(node, depth);
            if let Some(items) = self.items_of(node) {
                // They are where the macro is.
                let outer = self.around.last();
                let is_statement = outer.is_some_and(|of| of.kind() == "expression_statement");
                let depth = if is_statement { depth.saturating_sub(1) } else { depth };
                if !named_children(items).all(|item| self.run(item, depth)) {
                    return false;
                }
            } else if is_walked(node) && cursor.goto_first_child() {
                depth += 1;
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return true;
                }
                depth = depth.saturating_sub(1);
            }
        }
    }

    /// Returns the root of the items in a macro that is invoked where items are.
    fn items_of(&self, node: Node<'t>) -> Option<Node<'t>> {
        let tokens = item_tokens(node, self.around.last().copied())?;
        self.macros.get(&tokens.start_byte()).map(Tree::root_node)
    }

    fn visit(&mut self, node: Node<'t>, depth: usize) {
        while self.open.last().is_some_and(|open| open.depth >= depth) {
            self.open.pop();
        }
        self.enter(node, depth);
        if !node.is_named() {
            return;
        }
        let (rules, text) = (self.rules, self.text);
        if let Some(definition) = (rules.definition)(node, &text, &self.place()) {
            self.define(definition, depth);
        } else if let Some(container) = (rules.container)(node, &text, &self.place()) {
            let is_test = self.is_in_test();
            let container = name(&container, limits::NAME_BYTES_MAX);
            self.open.push(Open { depth, symbol: None, container, kind: None, is_test });
        }
        if let Some((used, kind)) = (rules.reference)(node, &text, &self.place())
            && self.outline.references.len() < limits::REFERENCES_MAX
            && let Some(name) = name(text.of(used), limits::NAME_BYTES_MAX)
        {
            let within = self.open.iter().rev().find_map(|open| open.symbol);
            self.outline.references.push(Reference { name, kind, line: first_line(used), within });
        }
        if self.outline.imports.len() < limits::IMPORTS_MAX {
            self.outline.imports.extend((rules.imports)(node, &text));
        }
    }

    /// Makes a node the present one.
    fn enter(&mut self, node: Node<'t>, depth: usize) {
        self.levels.truncate(depth + 1);
        if self.levels.len() <= depth {
            // What is before a node is also before the first node in it.
            let outer = self.levels.last();
            let is_first = |outer: &&Level<'t>| outer.node.start_byte() == node.start_byte();
            let leading = outer.filter(is_first).map(|outer| outer.leading.clone());
            let leading = leading.unwrap_or_default();
            self.levels.push(Level { node, leading, marker: None, code_ends_in: None });
        } else if let Some(level) = self.levels.last_mut() {
            level.follow(node);
        }
        self.around.truncate(depth);
        if let Some(outer) = self.levels.iter().rev().nth(1)
            && self.around.len() < depth
        {
            self.around.push(outer.node);
        }
    }

    fn place(&self) -> Place<'_, 't> {
        let is_function = |open: &Open| {
            matches!(open.kind, Some(SymbolKind::Function | SymbolKind::Method | SymbolKind::Macro))
        };
        let level = self.levels.last();
        Place {
            around: &self.around,
            leading: level.map_or(&[], |level| &level.leading),
            marker: level.and_then(|level| level.marker),
            parent: self.open.iter().rev().find_map(|open| open.kind),
            in_function: self.open.iter().any(is_function),
            in_test: self.is_in_test(),
            path: self.path,
        }
    }

    fn is_in_test(&self) -> bool {
        self.is_test_file || self.open.iter().any(|open| open.is_test)
    }

    fn define(&mut self, definition: Definition<'t>, depth: usize) {
        let Some(own_name) = name(&definition.name, limits::NAME_BYTES_MAX) else { return };
        let Ok(position) = u32::try_from(self.outline.symbols.len()) else { return };
        let Definition { whole, body, .. } = definition;
        let level = self.levels.iter().rev().find(|level| level.node == whole);
        let leading: &[Node<'t>] = level.map_or(&[], |level| &level.leading);
        let doc = docs::of_definition(whole, leading, body, self.rules.docs, &self.text);
        let start = doc.first_line.unwrap_or(u32::MAX).min(first_line(whole));
        let Some(lines) = LineRange::new(start, last_line(whole).max(start)) else { return };
        let parent = self.open.iter().rev().find_map(|open| open.symbol);
        let around = self.open.iter().rev().find_map(|open| open.container.clone());
        let container = definition.container.or(around);
        let is_test = definition.is_test || self.is_in_test();
        self.outline.symbols.push(Symbol {
            name: own_name.clone(),
            kind: definition.kind,
            parent,
            container,
            lines,
            name_line: first_line(definition.name_node),
            signature: signature(&self.text, whole, body),
            doc: doc.text,
            is_public: definition.is_public,
            is_test,
            parameters: definition.parameters,
            returns: definition.returns,
        });
        self.open.push(Open {
            depth,
            symbol: Some(position),
            container: is_container(definition.kind).then_some(own_name),
            kind: Some(definition.kind),
            is_test,
        });
    }

    /// Makes symbols children of the types that they belong to. What is extended under another name
    /// gets the one that it has where it is defined.
    fn finish(mut self) -> FileOutline {
        let references = &mut self.outline.references;
        if references.iter().any(|used| used.kind == ReferenceKind::Implementation) {
            // Each name once: `from shapes import A as B, B as A` exchanges two.
            let found = aliases(&self.outline.imports, self.text.0);
            let names: HashMap<&str, &str> = found
                .iter()
                .rev()
                .map(|other| (other.alias.as_str(), other.name.as_str()))
                .collect();
            let is_base = |used: &&mut Reference| used.kind == ReferenceKind::Implementation;
            for used in references.iter_mut().filter(is_base) {
                if let Some(name) = names.get(used.name.as_str()) {
                    used.name = (*name).to_owned();
                }
            }
        }
        let types: Vec<(String, u32)> = (0..)
            .zip(&self.outline.symbols)
            .filter(|(_, symbol)| is_container(symbol.kind) && symbol.kind != SymbolKind::Module)
            .map(|(position, symbol)| (symbol.name.clone(), position))
            .collect();
        for (position, symbol) in (0..).zip(&mut self.outline.symbols) {
            let Some(container) = &symbol.container else { continue };
            if symbol.kind != SymbolKind::Method || symbol.parent.is_some() {
                continue;
            }
            // A symbol comes after its parent.
            let fits = |(name, of): &&(String, u32)| name == container && *of < position;
            symbol.parent = types.iter().find(fits).map(|(_, of)| *of);
        }
        self.outline
    }
}

impl<'t> Level<'t> {
    /// Goes on to the next sibling.
    fn follow(&mut self, next: Node<'t>) {
        let before = std::mem::replace(&mut self.node, next);
        if docs::is_comment(before) {
            // A comment behind code belongs to that code.
            if self.code_ends_in == Some(before.start_position().row) {
                self.leading.clear();
            } else if self.leading.len() < limits::COMMENTS_MAX {
                self.leading.push(before);
            }
        } else if docs::is_attribute(before) {
            self.leading.push(before);
        } else {
            self.leading.clear();
            self.code_ends_in = Some(before.end_position().row);
        }
        if matches!(before.kind(), "access_specifier" | "identifier") {
            self.marker = Some(before);
        }
    }
}

/// Returns whether code is in a node: in an attribute of Rust, `any(unix, windows)` calls nothing.
fn is_walked(node: Node<'_>) -> bool {
    !matches!(node.kind(), "attribute_item" | "inner_attribute_item")
}

fn is_container(kind: SymbolKind) -> bool {
    matches!(
        kind,
        SymbolKind::Class
            | SymbolKind::Struct
            | SymbolKind::Enum
            | SymbolKind::Union
            | SymbolKind::Interface
            | SymbolKind::Trait
            | SymbolKind::Module
            | SymbolKind::TypeAlias
    )
}

/// Returns a definition without its body.
fn signature(text: &Text<'_>, whole: Node<'_>, body: Option<Node<'_>>) -> String {
    let end = body.map_or(whole.end_byte(), |body| body.start_byte());
    let lines = text.between(whole.start_byte(), end).lines();
    // Comments between the head and the body.
    let is_comment = |line: &&str| line.trim_start().starts_with(['#', '/']);
    let first = lines.clone().take(1);
    let code: Vec<&str> = first.chain(lines.skip(1).filter(|line| !is_comment(line))).collect();
    let written = one_line(&code.join("\n"), limits::SIGNATURE_BYTES_MAX);
    written.trim_end_matches(['{', ':', '=', ' ', ';']).to_owned()
}
