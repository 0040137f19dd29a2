//! The JSON of explanations and documentation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ops::Wanted;
use crate::areas::repositories::code_help::{
    Documentation, Explanation, Input, MethodDocumentation, ParameterDocumentation,
};
use crate::areas::repositories::limits;
use crate::areas::repositories::wire::repository_id;
use crate::http::ApiError;
use crate::platform::fields::Invalid;
use crate::platform::json::{integer_or_null, nullable};

/// What is to be explained.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExplainInput {
    /// The id of the repository.
    #[schemars(required)]
    repository: Option<String>,
    /// The path of the file.
    #[schemars(required, length(min = 1, max = limits::PATH_CHARS_MAX))]
    file: Option<String>,
    /// The lines, both included. Without them the whole file is explained.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<LinesInput>")]
    lines: Option<Option<LinesInput>>,
}

/// Lines of a file, both included, from 1.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "LineRangeInput")]
#[serde(deny_unknown_fields)]
struct LinesInput {
    #[serde(default, deserialize_with = "integer_or_null")]
    #[schemars(required, with = "u32", range(min = 1))]
    start: Option<u32>,
    #[serde(default, deserialize_with = "integer_or_null")]
    #[schemars(required, with = "u32", range(min = 1))]
    end: Option<u32>,
}

/// The file that is to be documented.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DocumentInput {
    /// The id of the repository.
    #[schemars(required)]
    repository: Option<String>,
    /// The path of the file.
    #[schemars(required, length(min = 1, max = limits::PATH_CHARS_MAX))]
    file: Option<String>,
}

/// An explanation.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CodeExplanationResult")]
pub(super) struct ExplanationView {
    explanation: ExplanationPartsView,
}

/// What code does, from its syntax tree and its documentation.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CodeExplanation")]
struct ExplanationPartsView {
    summary: String,
    /// What happens, in order.
    steps: Vec<String>,
    inputs: Vec<ParameterView>,
    outputs: OutputsView,
    /// What is imported, and what is called that is defined elsewhere.
    dependencies: Vec<String>,
}

/// What code returns.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CodeOutputs")]
struct OutputsView {
    success: String,
    failure: String,
}

/// A parameter.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CodeParameter")]
struct ParameterView {
    name: String,
    /// As written; empty if the code does not say.
    #[serde(rename = "type")]
    type_name: String,
    /// From the documentation; empty if it does not say.
    description: String,
}

/// The documentation of a file.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CodeDocumentationResult")]
pub(super) struct DocumentationView {
    documentation: DocumentationPartsView,
}

/// What a file offers.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CodeDocumentation")]
struct DocumentationPartsView {
    overview: String,
    /// The public functions and methods.
    methods: Vec<MethodView>,
    usage_examples: Vec<String>,
}

/// A public function or method.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CodeMethod")]
struct MethodView {
    name: String,
    description: String,
    parameters: Vec<ParameterView>,
    /// From its documentation and from calls of it.
    examples: Vec<String>,
}

impl ExplainInput {
    pub(super) fn into_wanted(self) -> Result<Wanted, ApiError> {
        let repository = repository_id(self.repository)?;
        let path = path(self.file)?;
        let lines = |lines: LinesInput| {
            let start = lines.start.ok_or_else(|| Invalid::missing("lines.start"))?;
            let end = lines.end.ok_or_else(|| Invalid::missing("lines.end"))?;
            Ok::<_, Invalid>((start, end))
        };
        Ok(Wanted { repository, path, lines: self.lines.flatten().map(lines).transpose()? })
    }
}

impl DocumentInput {
    pub(super) fn into_wanted(self) -> Result<Wanted, ApiError> {
        let repository = repository_id(self.repository)?;
        Ok(Wanted { repository, path: path(self.file)?, lines: None })
    }
}

fn path(sent: Option<String>) -> Result<String, Invalid> {
    let path = sent.filter(|path| !path.is_empty()).ok_or_else(|| Invalid::missing("file"))?;
    match path.chars().count() > limits::PATH_CHARS_MAX {
        true => {
            let expected = format!("must have at most {} characters", limits::PATH_CHARS_MAX);
            Err(Invalid::field("file", expected))
        }
        false => Ok(path),
    }
}

impl ExplanationView {
    pub(super) fn new(explanation: Explanation) -> Self {
        let outputs = explanation.outputs;
        Self {
            explanation: ExplanationPartsView {
                summary: explanation.summary,
                steps: explanation.steps,
                inputs: explanation.inputs.into_iter().map(ParameterView::of_input).collect(),
                outputs: OutputsView { success: outputs.success, failure: outputs.failure },
                dependencies: explanation.dependencies,
            },
        }
    }
}

impl ParameterView {
    fn of_input(input: Input) -> Self {
        Self { name: input.name, type_name: input.type_name, description: input.description }
    }

    fn of_documentation(parameter: ParameterDocumentation) -> Self {
        Self {
            name: parameter.name,
            type_name: parameter.type_name,
            description: parameter.description,
        }
    }
}

impl DocumentationView {
    pub(super) fn new(documentation: Documentation) -> Self {
        Self {
            documentation: DocumentationPartsView {
                overview: documentation.overview,
                methods: documentation.methods.into_iter().map(MethodView::new).collect(),
                usage_examples: documentation.usage_examples,
            },
        }
    }
}

impl MethodView {
    fn new(method: MethodDocumentation) -> Self {
        let parameters = method.parameters.into_iter().map(ParameterView::of_documentation);
        Self {
            name: method.name,
            description: method.description,
            parameters: parameters.collect(),
            examples: method.examples,
        }
    }
}
