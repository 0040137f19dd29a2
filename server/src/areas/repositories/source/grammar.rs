//! The grammars, and the rules that belong to each.

use tree_sitter::{Language as TreeSitterLanguage, Node};

use super::model::{Import, Language, Parameter, ReferenceKind, SymbolKind};
use super::nodes::Text;
use super::{c, ecmascript, go, java, python, ruby, rust};

/// What is particular to a language.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    /// What a node defines, if it defines something.
    pub(super) definition:
        for<'t> fn(Node<'t>, &Text<'_>, &Place<'_, 't>) -> Option<Definition<'t>>,
    /// Which name a node uses, and how.
    pub(super) reference:
        for<'t> fn(Node<'t>, &Text<'_>, &Place<'_, 't>) -> Option<(Node<'t>, ReferenceKind)>,
    /// What a node imports; empty for other nodes.
    pub(super) imports: fn(Node<'_>, &Text<'_>) -> Vec<Import>,
    /// Where documentation is.
    pub(super) docs: DocStyle,
    /// The container that a node is for the definitions in it, without being one itself.
    pub(super) container: for<'t> fn(Node<'t>, &Text<'_>, &Place<'_, 't>) -> Option<String>,
}

/// Where the documentation of a definition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DocStyle {
    /// In comments before it, of any form.
    AnyComment,
    /// In comments before it that are marked: `///` and `/**`.
    MarkedComment,
    /// In a string at the beginning of its body.
    Docstring,
}

/// Where a node is. What is around it is known from the walk: to ask the tree for the parent or the
/// siblings of a node takes time in proportion to its depth or their number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a, 't> {
    /// The nodes that contain it, the innermost last.
    pub(super) around: &'a [Node<'t>],
    /// The comments and attributes right before it.
    pub(super) leading: &'a [Node<'t>],
    /// The last word or access specifier among its siblings before it: `private`.
    pub(super) marker: Option<Node<'t>>,
    /// The kind of the innermost symbol that contains it.
    pub(super) parent: Option<SymbolKind>,
    /// Whether a function contains it.
    pub(super) in_function: bool,
    /// Whether it is part of a test.
    pub(super) in_test: bool,
    /// The path of the file.
    pub(super) path: &'a str,
}

impl<'t> Place<'_, 't> {
    /// Returns the node that contains it.
    pub(super) fn outer(&self) -> Option<Node<'t>> {
        self.around.last().copied()
    }

    /// Returns the node that contains the one that contains it.
    pub(super) fn outer_of_outer(&self) -> Option<Node<'t>> {
        self.around.iter().rev().nth(1).copied()
    }

    /// Returns the node that contains it, if it is of a kind.
    pub(super) fn outer_of_kind(&self, kind: &str) -> Option<Node<'t>> {
        self.outer().filter(|outer| outer.kind() == kind)
    }
}

/// What a node defines.
#[derive(Clone, Debug)]
pub(super) struct Definition<'t> {
    pub(super) kind: SymbolKind,
    pub(super) name: String,
    /// Where the name is.
    pub(super) name_node: Node<'t>,
    /// The node with all that belongs to it: decorators, `export`.
    pub(super) whole: Node<'t>,
    /// Where the body begins, which is not part of the signature.
    pub(super) body: Option<Node<'t>>,
    /// The type that it belongs to, if the code names it beside the definition.
    pub(super) container: Option<String>,
    pub(super) is_public: bool,
    pub(super) is_test: bool,
    pub(super) parameters: Vec<Parameter>,
    pub(super) returns: Option<String>,
}

impl<'t> Definition<'t> {
    /// Returns a definition without anything optional.
    pub(super) fn new(
        kind: SymbolKind,
        name_node: Node<'t>,
        whole: Node<'t>,
        text: &Text<'_>,
    ) -> Self {
        Self {
            kind,
            name: text.of(name_node).to_owned(),
            name_node,
            whole,
            body: None,
            container: None,
            is_public: true,
            is_test: false,
            parameters: Vec::new(),
            returns: None,
        }
    }
}

impl Language {
    /// Returns the grammar.
    pub(super) fn grammar(self) -> TreeSitterLanguage {
        match self {
            Self::Rust => tree_sitter_rust::LANGUAGE,
            Self::Python => tree_sitter_python::LANGUAGE,
            Self::JavaScript => tree_sitter_javascript::LANGUAGE,
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX,
            Self::Go => tree_sitter_go::LANGUAGE,
            Self::Ruby => tree_sitter_ruby::LANGUAGE,
            Self::Java => tree_sitter_java::LANGUAGE,
            Self::C => tree_sitter_c::LANGUAGE,
            Self::Cpp => tree_sitter_cpp::LANGUAGE,
        }
        .into()
    }

    /// Returns the rules.
    pub(super) fn rules(self) -> Rules {
        match self {
            Self::Rust => rust::RULES,
            Self::Python => python::RULES,
            Self::JavaScript | Self::TypeScript | Self::Tsx => ecmascript::RULES,
            Self::Go => go::RULES,
            Self::Ruby => ruby::RULES,
            Self::Java => java::RULES,
            Self::C | Self::Cpp => c::RULES,
        }
    }
}

/// Returns that no node is a container of itself.
pub(super) fn no_container<'t>(_: Node<'t>, _: &Text<'_>, _: &Place<'_, 't>) -> Option<String> {
    None
}
