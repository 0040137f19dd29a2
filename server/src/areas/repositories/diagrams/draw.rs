//! Chooses what is drawn: the strongest uses among modules, and the related types of each module.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::limits::{
    CLASS_DIAGRAMS_MAX, EDGES_MAX, FILES_OF_MODULE_MAX, MEMBERS_MAX, NODES_MAX, RELATIONS_MAX,
    TYPES_MAX, TYPES_MIN,
};
use super::mermaid::{ClassDiagram, Flowchart, Relation, RelationKind};
use crate::areas::repositories::index::{Index, IndexError};
use crate::areas::repositories::quotes::contains_secret;
use crate::areas::repositories::source::{FileOutline, ReferenceKind, Symbol, SymbolKind};
use crate::areas::repositories::wiki::{
    Module, Modules, Slugs, implementing_type, is_test_path, modules,
};

/// A diagram of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagram {
    /// The name in URLs: letters, digits and `-`.
    pub slug: String,
    /// What it shows. It is not escaped.
    pub title: String,
    /// What kind it is.
    pub kind: DiagramKind,
    /// The text in Mermaid's language.
    pub mermaid: String,
}

/// The kinds of diagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiagramKind {
    /// Which modules use which: a flowchart.
    ModuleGraph,
    /// How types are related: a class diagram.
    ClassDiagram,
}

impl DiagramKind {
    /// Returns the name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::ModuleGraph => "module_graph",
            Self::ClassDiagram => "class_diagram",
        }
    }
}

/// Returns the diagrams of a repository: the module graph if there is a module, then a class
/// diagram of each module with related types, as many as allowed, those with most relations first.
pub fn diagrams(index: &Index) -> Result<Vec<Diagram>, IndexError> {
    let modules = modules(index);
    let mut slugs = Slugs::default();
    let mut diagrams = Vec::new();
    if let Some(mermaid) = module_graph(index, &modules)? {
        diagrams.push(Diagram {
            slug: slugs.slug("modules"),
            title: "Modules".to_owned(),
            kind: DiagramKind::ModuleGraph,
            mermaid,
        });
    }
    let mut drawn = Vec::new();
    for module in modules.iter().filter(|module| !is_test_path(&module.path)) {
        if let Some((relations, mermaid)) = class_diagram(index, module)? {
            drawn.push((relations, module, mermaid));
        }
    }
    drawn.sort_by(|left, right| right.0.cmp(&left.0).then(left.1.path.cmp(&right.1.path)));
    drawn.truncate(CLASS_DIAGRAMS_MAX);
    drawn.sort_by(|left, right| left.1.path.cmp(&right.1.path));
    for (_, module, mermaid) in drawn {
        diagrams.push(Diagram {
            slug: slugs.slug(&format!("types {}", module.title())),
            title: format!("Types of {}", module.title()),
            kind: DiagramKind::ClassDiagram,
            mermaid,
        });
    }
    Ok(diagrams)
}

/// Returns the module graph: modules are joined to the folders above until few enough are left.
fn module_graph(index: &Index, modules: &Modules) -> Result<Option<String>, IndexError> {
    let groups = groups(modules);
    let mut group_edges: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for ((from, to), weight) in modules.edges(index)? {
        let ends = groups.of_module.get(&from).copied().zip(groups.of_module.get(&to).copied());
        if let Some(ends) = ends.filter(|(from, to)| from != to) {
            *group_edges.entry(ends).or_insert(0.0) += weight;
        }
    }
    let mut edges: Vec<((usize, usize), f64)> = group_edges.into_iter().collect();
    edges.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
    edges.truncate(EDGES_MAX);
    edges.sort_by_key(|(ends, _)| *ends);
    if groups.names.is_empty() {
        return Ok(None);
    }
    let mut chart = Flowchart::default();
    let nodes: Vec<usize> = groups.names.iter().map(|name| chart.node(name)).collect();
    for ((from, to), _) in edges {
        if let Some((from, to)) = nodes.get(from).zip(nodes.get(to)) {
            chart.edge(*from, *to);
        }
    }
    Ok(Some(chart.render()))
}

/// Groups of modules, one for each node.
struct Groups {
    names: Vec<String>,
    of_module: HashMap<usize, usize>,
}

fn groups(modules: &Modules) -> Groups {
    let depth_max = modules.iter().map(|module| depth(&module.path)).max().unwrap_or(0);
    // The deepest level at which few enough folders are left.
    let level = (0..=depth_max)
        .rev()
        .find(|level| {
            modules
                .iter()
                .map(|module| at_level(&module.path, *level))
                .collect::<BTreeSet<_>>()
                .len()
                <= NODES_MAX
        })
        .unwrap_or(0);
    let mut paths: BTreeMap<&str, usize> = BTreeMap::new();
    for module in modules.iter() {
        *paths.entry(at_level(&module.path, level)).or_default() += module.files.len();
    }
    // At the top level there can still be too many: those with most files are kept.
    let mut kept: Vec<(&str, usize)> = paths.into_iter().collect();
    kept.sort_by(|left, right| right.1.cmp(&left.1).then(left.0.cmp(right.0)));
    kept.truncate(NODES_MAX);
    kept.sort_unstable();
    let of_module = modules
        .iter()
        .enumerate()
        .filter_map(|(position, module)| {
            let path = at_level(&module.path, level);
            let group = kept.iter().position(|(known, _)| *known == path)?;
            Some((position, group))
        })
        .collect();
    let name = |path: &str| if path.is_empty() { "(root)".to_owned() } else { path.to_owned() };
    Groups { names: kept.iter().map(|(path, _)| name(path)).collect(), of_module }
}

fn depth(path: &str) -> usize {
    if path.is_empty() { 0 } else { path.split('/').count() }
}

/// Returns the first parts of a path.
fn at_level(path: &str, level: usize) -> &str {
    let end = path.match_indices('/').nth(level.saturating_sub(1)).map(|(at, _)| at);
    match (level, end) {
        (0, _) => "",
        (_, Some(end)) => path.get(..end).unwrap_or(path),
        (_, None) => path,
    }
}

/// A type of a module, with the position of its file among the outlines.
struct DrawnType<'outlines> {
    file: usize,
    position: u32,
    symbol: &'outlines Symbol,
}

/// Returns the number of relations and the diagram of a module's types; `None` if none are related.
fn class_diagram(index: &Index, module: &Module) -> Result<Option<(usize, String)>, IndexError> {
    let mut outlines: Vec<FileOutline> = Vec::new();
    let mut texts: Vec<String> = Vec::new();
    for file in module.files.iter().take(FILES_OF_MODULE_MAX) {
        outlines.push(index.outline(*file)?);
        texts.push(index.text(*file)?);
    }
    let types = types(&outlines);
    if types.len() < TYPES_MIN {
        return Ok(None);
    }
    let mut relations = relations(&outlines, &texts, &types);
    relations.truncate(RELATIONS_MAX);
    let mut related: Vec<usize> = relations
        .iter()
        .flat_map(|relation| [relation.from, relation.to])
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    related.truncate(TYPES_MAX);
    let mut diagram = ClassDiagram::default();
    let mut drawn: HashMap<usize, usize> = HashMap::new();
    for position in related {
        let Some(of) = types.get(position) else { continue };
        let members = members(&outlines, of);
        let class = diagram.class(&of.symbol.name, annotation(of.symbol.kind), members.into_iter());
        drawn.insert(position, class);
    }
    let mut count = 0;
    for Relation { from, to, kind } in relations {
        if let Some((from, to)) = drawn.get(&from).zip(drawn.get(&to)) {
            diagram.relation(Relation { from: *from, to: *to, kind });
            count += 1;
        }
    }
    Ok((count > 0).then(|| (count, diagram.render())))
}

/// Returns the types of a module. A name that several of them have is left out: relations are found
/// by name, and would be guesses.
fn types(outlines: &[FileOutline]) -> Vec<DrawnType<'_>> {
    let mut by_name: BTreeMap<&str, Vec<DrawnType<'_>>> = BTreeMap::new();
    for (file, outline) in outlines.iter().enumerate() {
        for (position, symbol) in (0_u32..).zip(&outline.symbols) {
            if is_type(symbol.kind) && !symbol.is_test {
                by_name.entry(&symbol.name).or_default().push(DrawnType { file, position, symbol });
            }
        }
    }
    let mut types: Vec<DrawnType<'_>> =
        by_name.into_values().filter(|same| same.len() == 1).flatten().collect();
    types.sort_by_key(|of| (of.file, of.position));
    types
}

fn is_type(kind: SymbolKind) -> bool {
    matches!(
        kind,
        SymbolKind::Class
            | SymbolKind::Struct
            | SymbolKind::Enum
            | SymbolKind::Union
            | SymbolKind::Interface
            | SymbolKind::Trait
    )
}

/// Returns the relations among types, each once, those that implement or extend first.
fn relations(outlines: &[FileOutline], texts: &[String], types: &[DrawnType<'_>]) -> Vec<Relation> {
    let by_name: HashMap<&str, usize> = types
        .iter()
        .enumerate()
        .map(|(position, of)| (of.symbol.name.as_str(), position))
        .collect();
    let mut found = BTreeSet::new();
    for (file, (outline, text)) in outlines.iter().zip(texts).enumerate() {
        let lines: Vec<&str> = text.lines().collect();
        for used in &outline.references {
            let Some(to) = by_name.get(used.name.as_str()).copied() else { continue };
            let line = usize::try_from(used.line).ok().and_then(|line| lines.get(line - 1));
            let of_block = line.and_then(|line| implementing_type(line));
            let from = match of_block {
                Some(name) => by_name.get(name).copied(),
                None => owner(types, &by_name, outline, file, used.within, used.line),
            };
            let Some(from) = from else { continue };
            if from == to {
                continue;
            }
            let kind = match used.kind {
                ReferenceKind::Implementation => implementation_kind(types, to),
                ReferenceKind::Type if is_in_field(outline, used.within, used.line) => {
                    RelationKind::Contains
                }
                _ => continue,
            };
            found.insert((kind, from, to));
        }
    }
    found.into_iter().map(|(kind, from, to)| Relation { from, to, kind }).collect()
}

/// Returns the type that contains a use, directly or through its members.
fn owner(
    types: &[DrawnType<'_>],
    by_name: &HashMap<&str, usize>,
    outline: &FileOutline,
    file: usize,
    within: Option<u32>,
    line: u32,
) -> Option<usize> {
    let mut within = within;
    // Symbols come after the ones that contain them, so this ends.
    while let Some(position) = within {
        let symbol = outline.symbols.get(usize::try_from(position).ok()?)?;
        if let Some(of) = types.iter().position(|of| of.file == file && of.position == position) {
            return Some(of);
        }
        if let Some(of) = symbol.container.as_deref().and_then(|name| by_name.get(name)) {
            return Some(*of);
        }
        within = symbol.parent.filter(|parent| *parent < position);
    }
    types.iter().position(|of| of.file == file && of.symbol.lines.contains(line))
}

fn implementation_kind(types: &[DrawnType<'_>], to: usize) -> RelationKind {
    match types.get(to).map(|of| of.symbol.kind) {
        Some(SymbolKind::Trait | SymbolKind::Interface) => RelationKind::Implements,
        _ => RelationKind::Extends,
    }
}

/// Returns whether a use is the type of a field or the content of a variant.
fn is_in_field(outline: &FileOutline, within: Option<u32>, line: u32) -> bool {
    let is_field = |symbol: &Symbol| {
        matches!(symbol.kind, SymbolKind::Field | SymbolKind::Variant)
            && symbol.lines.contains(line)
    };
    let inner = within.and_then(|within| outline.symbols.get(usize::try_from(within).ok()?));
    match inner {
        Some(inner) if is_field(inner) => true,
        Some(inner) if !is_type(inner.kind) => false,
        _ => outline.symbols.iter().any(is_field),
    }
}

/// Returns the members of a type as they are drawn: fields, then public methods.
fn members(outlines: &[FileOutline], of: &DrawnType<'_>) -> Vec<String> {
    let Some(outline) = outlines.get(of.file) else { return Vec::new() };
    let own = || {
        outline
            .symbols
            .iter()
            .filter(|member| member.parent == Some(of.position) && !member.is_test)
    };
    let fields = own()
        .filter(|member| matches!(member.kind, SymbolKind::Field | SymbolKind::Variant))
        .map(|member| member.name.clone());
    let methods = own()
        .filter(|member| member.kind == SymbolKind::Method && member.is_public)
        .map(|member| format!("{}()", member.name));
    fields
        .take(MEMBERS_MAX)
        .chain(methods.take(MEMBERS_MAX))
        .filter(|member| !contains_secret(member))
        .collect()
}

fn annotation(kind: SymbolKind) -> Option<&'static str> {
    match kind {
        SymbolKind::Enum => Some("enumeration"),
        SymbolKind::Interface => Some("interface"),
        SymbolKind::Trait => Some("trait"),
        SymbolKind::Union => Some("union"),
        _ => None,
    }
}
