//! The schemas of the document. The request and response schemas of one type can differ: a field
//! with a default is optional in a request and always present in a response. Such a type has two
//! schemas; that of requests is named `…Input`.

use std::collections::BTreeSet;

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::http::route_doc::SchemaOf;

/// The path of response schemas, and of all schemas in the finished document.
const RESPONSES_PATH: &str = "/components/schemas";
/// The path of request schemas until it is known which types have two schemas.
const REQUESTS_PATH: &str = "/components/requests";

/// Collects the schemas of requests and responses.
pub(super) struct Schemas {
    requests: SchemaGenerator,
    responses: SchemaGenerator,
}

impl Schemas {
    pub(super) fn new() -> Self {
        let settings = |path: &'static str| {
            SchemaSettings::draft2020_12().with(|settings| settings.definitions_path = path.into())
        };
        Self {
            requests: settings(REQUESTS_PATH).for_deserialize().into_generator(),
            responses: settings(RESPONSES_PATH).for_serialize().into_generator(),
        }
    }

    /// Returns the schema of a request type.
    pub(super) fn request(&mut self, schema: SchemaOf) -> Value {
        json!(schema(&mut self.requests))
    }

    /// Returns the schema of a response type.
    pub(super) fn response(&mut self, schema: SchemaOf) -> Value {
        json!(schema(&mut self.responses))
    }

    /// Returns all schemas by name and rewrites the references in `paths`.
    pub(super) fn finish(mut self, paths: &mut Value) -> Map<String, Value> {
        let requests = self.requests.take_definitions(true);
        let mut all = self.responses.take_definitions(true);
        let differing = differing(&requests, &all);
        for (name, mut schema) in requests {
            rewrite_references(&mut schema, &differing);
            all.insert(name_of(&name, &differing), schema);
        }
        rewrite_references(paths, &differing);
        all
    }
}

/// Returns the names whose request and response schemas differ, directly or through their
/// references.
fn differing(requests: &Map<String, Value>, responses: &Map<String, Value>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    loop {
        let differs = |(name, schema): &(&String, &Value)| {
            let mut schema = Value::clone(schema);
            rewrite_references(&mut schema, &found);
            !found.contains(*name) && responses.get(*name).is_some_and(|other| *other != schema)
        };
        let more: Vec<String> =
            requests.iter().filter(differs).map(|(name, _)| name.clone()).collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

fn name_of(name: &str, differing: &BTreeSet<String>) -> String {
    if differing.contains(name) { format!("{name}Input") } else { name.to_owned() }
}

/// Rewrites references to request schemas to their final names, and removes `null` defaults.
fn rewrite_references(value: &mut Value, differing: &BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            // Generated clients would send the `null`, which clears the field in an update.
            if members.get("default").is_some_and(Value::is_null) {
                members.remove("default");
            }
            if let Some(Value::String(target)) = members.get_mut("$ref")
                && let Some(name) = target.strip_prefix(&format!("#{REQUESTS_PATH}/"))
            {
                *target = format!("#{RESPONSES_PATH}/{}", name_of(name, differing));
            }
            members.values_mut().for_each(|member| rewrite_references(member, differing));
        }
        Value::Array(items) => {
            items.iter_mut().for_each(|item| rewrite_references(item, differing))
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    use super::*;

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Outer {
        inner: Inner,
        same: Same,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Inner {
        #[serde(default)]
        count: u32,
        #[serde(default)]
        note: Option<String>,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Same {
        count: u32,
    }

    #[test]
    fn a_type_with_different_request_and_response_schemas_has_both() {
        let mut schemas = Schemas::new();
        let request = schemas.request(SchemaGenerator::subschema_for::<Outer>);
        let response = schemas.response(SchemaGenerator::subschema_for::<Outer>);
        let mut paths = json!({ "request": request, "answer": response });
        let all = schemas.finish(&mut paths);
        let names: Vec<&String> = all.keys().collect();
        assert_eq!(names, ["Inner", "InnerInput", "Outer", "OuterInput", "Same"]);
        assert_eq!(paths["request"]["$ref"], "#/components/schemas/OuterInput");
        assert_eq!(paths["answer"]["$ref"], "#/components/schemas/Outer");
        let inner = &all["OuterInput"]["properties"]["inner"]["$ref"];
        assert_eq!(inner, "#/components/schemas/InnerInput");
        assert_eq!(all["Inner"]["required"], json!(["count", "note"]));
        assert_eq!(all["InnerInput"]["properties"]["note"], json!({ "type": ["string", "null"] }));
        assert_eq!(all["InnerInput"]["required"], Value::Null);
    }
}
