//! The schemas of the document. What is read and what is written differ, also where they are of one type: a field with a
//! default may be left out of a request and stands in every answer. A type with two forms has two schemas, of which that
//! of requests is called `…Input`.

use std::collections::BTreeSet;

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::http::doc::SchemaOf;

/// Where answers refer to, and requests in the end.
const ANSWERS: &str = "/components/schemas";
/// Where requests refer to until it is known which of their schemas have two forms.
const REQUESTS: &str = "/components/requests";

/// Collects the schemas of requests and of answers.
pub(super) struct Schemas {
    requests: SchemaGenerator,
    answers: SchemaGenerator,
}

impl Schemas {
    pub(super) fn new() -> Self {
        let settings = |path: &'static str| {
            SchemaSettings::draft2020_12().with(|settings| settings.definitions_path = path.into())
        };
        Self {
            requests: settings(REQUESTS).for_deserialize().into_generator(),
            answers: settings(ANSWERS).for_serialize().into_generator(),
        }
    }

    /// The schema of what is read.
    pub(super) fn request(&mut self, schema: SchemaOf) -> Value {
        json!(schema(&mut self.requests))
    }

    /// The schema of what is written.
    pub(super) fn answer(&mut self, schema: SchemaOf) -> Value {
        json!(schema(&mut self.answers))
    }

    /// All schemas by their names; references in `paths` lead to them.
    pub(super) fn finish(mut self, paths: &mut Value) -> Map<String, Value> {
        let requests = self.requests.take_definitions(true);
        let mut all = self.answers.take_definitions(true);
        let two_formed = two_formed(&requests, &all);
        for (name, mut schema) in requests {
            refer(&mut schema, &two_formed);
            all.insert(name_of(&name, &two_formed), schema);
        }
        refer(paths, &two_formed);
        all
    }
}

/// The names under which requests and answers mean different things, themselves or by what they refer to.
fn two_formed(requests: &Map<String, Value>, answers: &Map<String, Value>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    loop {
        let differs = |(name, schema): &(&String, &Value)| {
            let mut schema = Value::clone(schema);
            refer(&mut schema, &found);
            !found.contains(*name) && answers.get(*name).is_some_and(|other| *other != schema)
        };
        let more: Vec<String> =
            requests.iter().filter(differs).map(|(name, _)| name.clone()).collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

fn name_of(name: &str, two_formed: &BTreeSet<String>) -> String {
    if two_formed.contains(name) { format!("{name}Input") } else { name.to_owned() }
}

/// Leads references to schemas of requests to where these end up, and drops defaults that say nothing.
fn refer(value: &mut Value, two_formed: &BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            // Generated clients would send it, and a change with `null` clears what was not meant.
            if members.get("default").is_some_and(Value::is_null) {
                members.remove("default");
            }
            if let Some(Value::String(target)) = members.get_mut("$ref")
                && let Some(name) = target.strip_prefix(&format!("#{REQUESTS}/"))
            {
                *target = format!("#{ANSWERS}/{}", name_of(name, two_formed));
            }
            members.values_mut().for_each(|member| refer(member, two_formed));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| refer(item, two_formed)),
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
    fn a_type_that_is_read_and_written_differently_has_two_schemas() {
        let mut schemas = Schemas::new();
        let request = schemas.request(SchemaGenerator::subschema_for::<Outer>);
        let answer = schemas.answer(SchemaGenerator::subschema_for::<Outer>);
        let mut paths = json!({ "request": request, "answer": answer });
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
