//! The graph of which file uses which, and how central each is in it.
//!
//! A file uses another one if it uses names that the other one defines, and more if few files
//! define them; a use counts less the more often it is repeated. The ranks are those of PageRank,
//! with all files equally likely to be looked at first.

use super::super::super::source::{Import, SymbolKind};
use super::super::format::{GraphTable, SymbolRecord};
use super::super::limits::{DEFINERS_MAX, DEPENDENCIES_PER_FILE_MAX, RANK_ROUNDS};
use super::super::model::{Dependency, FileId};
use super::analysis::NameUse;
use super::imports::Modules;

/// The weight of an import beside that of a name that is used once.
const IMPORT_WEIGHT: f64 = 1.0;

/// The share of a rank that is passed on, as in the publication of PageRank.
const DAMPING: f64 = 0.85;

/// What a file uses.
#[derive(Clone, Copy, Debug)]
pub(super) struct GraphFile<'a> {
    pub(super) path: &'a str,
    pub(super) imports: &'a [Import],
    /// The names that it uses, sorted.
    pub(super) uses: &'a [NameUse<u32>],
}

/// Returns for each name how many files use it that do not define it, for each file that does.
/// `symbols` are sorted by name and file.
pub(super) fn uses_of_names(
    files: &[GraphFile<'_>],
    symbols: &[SymbolRecord],
    names: usize,
) -> Vec<u8> {
    let mut counts = vec![0_usize; names];
    for (file, number) in files.iter().zip(0..) {
        for NameUse { name, .. } in file.uses {
            let is_defined = symbols
                .binary_search_by_key(&(*name, number), |symbol| {
                    (symbol.name, symbol.symbol.file.0)
                })
                .is_ok();
            if let Some(count) = counts.get_mut(*name as usize).filter(|_| !is_defined) {
                *count += 1;
            }
        }
    }
    let mut uses = vec![0; names];
    for of_name in symbols.chunk_by(|left, right| left.name == right.name) {
        let name = of_name.first().map_or(0, |symbol| symbol.name as usize);
        let files = of_name.chunk_by(|left, right| left.symbol.file == right.symbol.file).count();
        if let (Some(count), Some(uses)) = (counts.get(name), uses.get_mut(name)) {
            *uses = (*count / files).try_into().unwrap_or(u8::MAX);
        }
    }
    uses
}

/// Returns the graph. `symbols` are sorted by name and file.
pub(super) fn graph(files: &[GraphFile<'_>], symbols: &[SymbolRecord]) -> GraphTable {
    let modules = Modules::of(files.iter().map(|file| file.path));
    let mut dependencies = Vec::new();
    for (file, number) in files.iter().zip(0..) {
        let mut uses = uses_of_file(file, number, symbols);
        for import in file.imports {
            let imported = modules.resolve(import, file.path);
            let others = imported.into_iter().filter(|other| *other != number);
            uses.extend(others.map(|other| (other, IMPORT_WEIGHT)));
        }
        // Stable, so that the weights are added in the same order always.
        uses.sort_by_key(|(other, _)| *other);
        let of_others = uses.chunk_by(|left, right| left.0 == right.0);
        let mut of_file: Vec<Dependency> = of_others
            .filter_map(|uses| {
                let weight = uses.iter().map(|(_, weight)| weight).sum();
                let weight = GraphTable::stored_weight(weight);
                Some(Dependency { from: FileId(number), to: FileId(uses.first()?.0), weight })
            })
            .collect();
        of_file.sort_by(|left, right| right.weight.total_cmp(&left.weight));
        of_file.truncate(DEPENDENCIES_PER_FILE_MAX);
        of_file.sort_by_key(|dependency| dependency.to);
        dependencies.append(&mut of_file);
    }
    let ranks = ranks(files.len(), &dependencies);
    GraphTable { dependencies, ranks }
}

/// Returns the files that define what a file uses, and the weight of each use.
fn uses_of_file(file: &GraphFile<'_>, number: u32, symbols: &[SymbolRecord]) -> Vec<(u32, f64)> {
    let mut weights = Vec::new();
    for NameUse { name, count, .. } in file.uses {
        let start = symbols.partition_point(|symbol| symbol.name < *name);
        let of_name = symbols.get(start..).unwrap_or_default();
        let of_name = of_name.iter().take_while(|symbol| symbol.name == *name);
        let mut definers = Vec::new();
        for symbol in of_name.filter(|symbol| is_defined_for_others(symbol)) {
            if definers.last() != Some(&symbol.symbol.file.0) {
                definers.push(symbol.symbol.file.0);
            }
            if definers.len() > DEFINERS_MAX {
                break;
            }
        }
        // A file that defines the name itself means its own.
        if definers.is_empty() || definers.len() > DEFINERS_MAX || definers.contains(&number) {
            continue;
        }
        let weight = f64::from(*count).sqrt() / definers.len() as f64;
        weights.extend(definers.into_iter().map(|other| (other, weight)));
    }
    weights
}

fn is_defined_for_others(symbol: &SymbolRecord) -> bool {
    let is_used = !matches!(
        symbol.kind,
        SymbolKind::Field | SymbolKind::Variable | SymbolKind::Module | SymbolKind::Variant
    );
    is_used && symbol.is_public && !symbol.is_test
}

fn ranks(files: usize, dependencies: &[Dependency]) -> Vec<f32> {
    let mut sums = vec![0.0; files];
    for dependency in dependencies {
        if let Some(sum) = sums.get_mut(dependency.from.0 as usize) {
            *sum += dependency.weight;
        }
    }
    let mut ranks = vec![1.0; files];
    for _ in 0..RANK_ROUNDS {
        // Files that use no other pass their rank on to all.
        let ends = ranks.iter().zip(&sums).filter(|(_, sum)| **sum == 0.0);
        let ends: f64 = ends.map(|(rank, _): (&f64, _)| *rank).sum();
        let base = 1.0 - DAMPING + DAMPING * ends / files.max(1) as f64;
        let mut next = vec![base; files];
        for Dependency { from, to, weight } in dependencies {
            let from = from.0 as usize;
            let (Some(rank), Some(sum)) = (ranks.get(from), sums.get(from)) else { continue };
            if let Some(next) = next.get_mut(to.0 as usize) {
                *next += DAMPING * rank * weight / sum;
            }
        }
        ranks = next;
    }
    ranks.into_iter().map(|rank| rank as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_that_others_use_have_the_highest_rank() {
        let edge = |from, to, weight| Dependency { from: FileId(from), to: FileId(to), weight };
        let ranks = ranks(4, &[edge(0, 2, 1.0), edge(1, 2, 1.0), edge(2, 3, 1.0), edge(1, 0, 0.1)]);
        assert!(ranks[2] > ranks[0] && ranks[3] > ranks[0] && ranks[0] > ranks[1], "{ranks:?}");
        assert!((ranks.iter().sum::<f32>() - 4.0).abs() < 1e-3, "{ranks:?}");
    }

    #[test]
    fn without_dependencies_all_files_are_equal() {
        assert_eq!(ranks(3, &[]), [1.0; 3]);
        assert!(ranks(0, &[]).is_empty());
    }
}
