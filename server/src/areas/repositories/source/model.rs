//! Outlines of source files: symbols, imports and references.

use std::fmt;

/// A language whose grammar is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    /// Rust.
    Rust,
    /// Python.
    Python,
    /// JavaScript, with JSX.
    JavaScript,
    /// TypeScript.
    TypeScript,
    /// TypeScript with JSX.
    Tsx,
    /// Go.
    Go,
    /// Ruby.
    Ruby,
    /// Java.
    Java,
    /// C.
    C,
    /// C++.
    Cpp,
}

/// Lines of a file, from 1, both ends included; at least one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineRange {
    start: u32,
    end: u32,
}

/// What is known of the text of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileOutline {
    /// `None` if no grammar fits: nothing else is known then.
    pub language: Option<Language>,
    /// What the file says of itself: the comment or docstring at its beginning, without markers.
    pub doc: Option<String>,
    /// In the order of their beginnings; a symbol comes after the one that contains it.
    pub symbols: Vec<Symbol>,
    /// The imports of the file, in their order.
    pub imports: Vec<Import>,
    /// Uses of names, in their order.
    pub references: Vec<Reference>,
    /// Whether the file was parsed to its end, within the limits.
    pub is_complete: bool,
}

/// A named definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The name, without what contains it.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// The position, in [`FileOutline::symbols`], of the symbol that contains this one. A method in
    /// a Rust `impl` block or a Go method is contained in its type if that is in the same file.
    pub parent: Option<u32>,
    /// The name of the type or namespace that it belongs to, also if that is in another file.
    pub container: Option<String>,
    /// The whole definition, with its documentation, attributes and decorators.
    pub lines: LineRange,
    /// The line of the name.
    pub name_line: u32,
    /// The definition without its body, in one line, of limited length.
    pub signature: String,
    /// The documentation, without markers of comments, of limited length.
    pub doc: Option<String>,
    /// Whether other files or modules may use it.
    pub is_public: bool,
    /// Whether it is a test, or in a module or file of tests.
    pub is_test: bool,
    /// The parameters of a function, without `self` and `this`.
    pub parameters: Vec<Parameter>,
    /// The type that a function returns, as written.
    pub returns: Option<String>,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name or pattern.
    pub name: String,
    /// The type, as written.
    pub type_name: Option<String>,
    /// The default value, as written.
    pub default: Option<String>,
}

/// The kinds of symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SymbolKind {
    /// A function.
    Function,
    /// A function that belongs to a type.
    Method,
    /// A class.
    Class,
    /// A struct or record.
    Struct,
    /// An enumeration.
    Enum,
    /// A member of an enumeration.
    Variant,
    /// A union.
    Union,
    /// An interface.
    Interface,
    /// A trait.
    Trait,
    /// Another name of a type.
    TypeAlias,
    /// A module or namespace.
    Module,
    /// A macro.
    Macro,
    /// A constant.
    Constant,
    /// A variable at the level of a file or class.
    Variable,
    /// A field or property of a type.
    Field,
}

/// An import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The module, file or package, as written, without quotes: `std::fmt`, `./util`, `os.path`,
    /// `<stdio.h>` without the brackets.
    pub path: String,
    /// The names that it brings in.
    pub names: Vec<String>,
    /// The line on which it begins.
    pub line: u32,
}

/// A use of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The name, without what it is reached through.
    pub name: String,
    /// How it is used.
    pub kind: ReferenceKind,
    /// Its line.
    pub line: u32,
    /// The position, in [`FileOutline::symbols`], of the innermost symbol that contains it.
    pub within: Option<u32>,
}

/// How a name is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReferenceKind {
    /// It is called, as a function, method, macro or constructor.
    Call,
    /// It is named as a type.
    Type,
    /// It is implemented or extended.
    Implementation,
}

impl SymbolKind {
    /// Returns the name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Method => "method",
            Self::Class => "class",
            Self::Struct => "struct",
            Self::Enum => "enum",
            Self::Variant => "variant",
            Self::Union => "union",
            Self::Interface => "interface",
            Self::Trait => "trait",
            Self::TypeAlias => "type_alias",
            Self::Module => "module",
            Self::Macro => "macro",
            Self::Constant => "constant",
            Self::Variable => "variable",
            Self::Field => "field",
        }
    }
}

impl LineRange {
    /// Returns the lines from `start` to `end`; `None` unless `1 <= start <= end`.
    pub fn new(start: u32, end: u32) -> Option<Self> {
        (1 <= start && start <= end).then_some(Self { start, end })
    }

    /// Returns the first line.
    pub fn start(self) -> u32 {
        self.start
    }

    /// Returns the last line.
    pub fn end(self) -> u32 {
        self.end
    }

    /// Returns how many lines these are.
    pub fn count(self) -> u32 {
        self.end - self.start + 1
    }

    /// Returns whether a line is one of these.
    pub fn contains(self, line: u32) -> bool {
        (self.start..=self.end).contains(&line)
    }
}

impl fmt::Debug for LineRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.start, self.end)
    }
}

impl Language {
    /// All languages.
    pub const ALL: [Self; 10] = [
        Self::Rust,
        Self::Python,
        Self::JavaScript,
        Self::TypeScript,
        Self::Tsx,
        Self::Go,
        Self::Ruby,
        Self::Java,
        Self::C,
        Self::Cpp,
    ];

    /// Returns the name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Python => "python",
            Self::JavaScript => "javascript",
            Self::TypeScript => "typescript",
            Self::Tsx => "tsx",
            Self::Go => "go",
            Self::Ruby => "ruby",
            Self::Java => "java",
            Self::C => "c",
            Self::Cpp => "cpp",
        }
    }
}
