//! Failures that a function handles, and results of generators.

use super::harness::explained_symbol;

const PYTHON: &str = r#"def never():
    try:
        raise KeyError("x")
    except KeyError:
        return None


def other():
    try:
        raise KeyError("x")
    except (ValueError, TypeError):
        return None


def again():
    try:
        raise KeyError("x")
    except Exception as error:
        log(error)
        raise


def instead():
    try:
        raise errors.Missing("x")
    except errors.Missing:
        raise Refused("y")


def numbers() -> tuple[int, ...]:
    yield 1


def items() -> Iterator[int]:
    yield 1
"#;

#[test]
fn a_failure_that_is_handled_is_none_of_the_function() {
    for (name, failure) in [
        ("never", "Does not fail by itself."),
        ("other", "Raises `KeyError(\"x\")`."),
        ("again", "Raises `KeyError(\"x\")`. Raises the handled exception again."),
        ("instead", "Raises `Refused(\"y\")`."),
    ] {
        assert_eq!(explained_symbol("a.py", PYTHON, name).outputs.failure, failure, "{name}");
    }
    let java = "class A {\n  int f() {\n    try { throw new IllegalStateException(\"x\"); }\n    catch (IllegalStateException e) { return 1; }\n  }\n}\n";
    let found = explained_symbol("A.java", java, "f");
    assert_eq!(found.outputs.failure, "Does not fail by itself.");
    let script = "function f() {\n  try { throw new Error('x'); } catch (e) { return 1; }\n}\n";
    assert_eq!(explained_symbol("a.js", script, "f").outputs.failure, "Does not fail by itself.");
    let thrown = "function f() {\n  try { throw new Error('x'); } catch (e) { throw e; }\n}\n";
    let found = explained_symbol("a.js", thrown, "f").outputs.failure;
    assert_eq!(found, "Throws `new Error('x')` and `e`.");
}

#[test]
fn a_generator_returns_no_tuple() {
    let of = |name| explained_symbol("a.py", PYTHON, name).outputs.success;
    assert_eq!(of("numbers"), "Yields `1`. It is declared to return `tuple[int, ...]`.");
    assert_eq!(of("items"), "Yields `1`. Returns `Iterator[int]`.");
}
