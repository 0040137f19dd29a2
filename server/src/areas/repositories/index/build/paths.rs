//! What the path of a file says of it.

/// Names of directories whose files are tests, or are there to show something.
const TEST_DIRECTORIES: [&str; 13] = [
    "test",
    "tests",
    "testing",
    "testdata",
    "__tests__",
    "spec",
    "specs",
    "bench",
    "benches",
    "benchmarks",
    "example",
    "examples",
    "fixtures",
];

/// Names of files and directories whose code only stands in for other code of the same names, which
/// is the code that is asked for.
const STAND_INS: [&str; 7] = [
    // Objects that tests use instead of the real ones; Jest looks for the last one.
    "mock",
    "mocks",
    "mocked",
    "__mocks__",
    // The model checker for Rust, for which crates wrap the types of `std`.
    "loom",
    // Adapters with the interface of something that is missing.
    "shim",
    "shims",
];

/// Names of files that stand for the directory that contains them.
const DIRECTORY_FILES: [&str; 5] = ["mod", "lib", "main", "index", "__init__"];

/// Returns whether the code in a file only stands in for other code of the same names.
pub fn is_stand_in(path: &str) -> bool {
    path.split('/').any(|part| {
        let stem = part.split('.').next().unwrap_or_default();
        STAND_INS.contains(&stem.to_lowercase().as_str())
    })
}

/// Returns whether the files of a path are tests, benchmarks or examples.
pub(super) fn is_test_path(path: &str) -> bool {
    let mut components: Vec<&str> = path.split('/').collect();
    let name = components.pop().unwrap_or_default();
    let stem = name.split('.').next().unwrap_or_default();
    let is_test_name = matches!(stem, "test" | "tests" | "conftest" | "bench")
        || stem.starts_with("test_")
        || ["_test", "_tests", "_spec", "_bench"].iter().any(|end| stem.ends_with(end))
        || [".test.", ".spec."].iter().any(|part| name.contains(part));
    is_test_name
        || is_stand_in(path)
        || components
            .iter()
            .any(|component| TEST_DIRECTORIES.contains(&component.to_lowercase().as_str()))
}

/// Returns the components of the module that a file is: without its extension, and without its name
/// if it stands for its directory.
pub(super) fn module_of(path: &str) -> Vec<&str> {
    let mut components: Vec<&str> = path.split('/').collect();
    let stem = components.pop().and_then(|name| name.split('.').next()).unwrap_or_default();
    if !DIRECTORY_FILES.contains(&stem) || components.is_empty() {
        components.push(stem);
    }
    components
}
