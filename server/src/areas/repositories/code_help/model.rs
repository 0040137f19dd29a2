//! What is said of code.

/// What a file, or lines of it, do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// What it is, in a few sentences.
    pub summary: String,
    /// What it does, in the order of the code. A step within another one begins with `- `, after
    /// two spaces for each further level.
    pub steps: Vec<String>,
    /// The parameters.
    pub inputs: Vec<Input>,
    /// What comes of it.
    pub outputs: Outputs,
    /// What it uses that is defined elsewhere, sorted and without duplicates.
    pub dependencies: Vec<String>,
}

/// A parameter of an explained function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The name, as written.
    pub name: String,
    /// The type, as written in the code or else in its documentation; empty if neither names it.
    pub type_name: String,
    /// What the documentation says of it, and its default value; empty if there is neither.
    pub description: String,
}

/// The results of explained code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outputs {
    /// What is returned.
    pub success: String,
    /// How it fails.
    pub failure: String,
}

/// The documentation of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Documentation {
    /// What the file is for.
    pub overview: String,
    /// Its public functions, in their order.
    pub methods: Vec<MethodDocumentation>,
    /// Code that uses the file.
    pub usage_examples: Vec<String>,
}

/// The documentation of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodDocumentation {
    /// The name, with the name of its type before it: `Counter::add`, `Counter.add`.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Its parameters, without the receiver.
    pub parameters: Vec<ParameterDocumentation>,
    /// Code that calls it.
    pub examples: Vec<String>,
}

/// The documentation of a parameter; the fields are those of [`Input`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterDocumentation {
    /// The name, as written.
    pub name: String,
    /// The type, as written; empty if it is not known.
    pub type_name: String,
    /// What the documentation says of it, and its default value.
    pub description: String,
}

/// Code of the repository that uses a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The position, in the outline of the documented file, of the function that it calls.
    pub symbol: u32,
    /// The file in which it is.
    pub path: String,
    /// The line at which it begins.
    pub line: u32,
    /// The code.
    pub snippet: String,
    /// Whether it is part of a test.
    pub is_test: bool,
}
