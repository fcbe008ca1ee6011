//! The OpenAPI document against the routes, and answers against the document.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tether_core::json::JsonText;
use tether_core::schema::Schema;

use super::server::Answer;
use crate::http::{ROUTES, document};

fn api() -> Value {
    serde_json::from_str(document()).unwrap()
}

#[test]
fn every_route_is_documented_and_every_documented_route_is_there() {
    let routes: BTreeSet<_> = ROUTES
        .iter()
        .map(|route| (route.path.to_owned(), route.method.as_str().to_ascii_lowercase()))
        .collect();
    let api = api();
    let mut documented = BTreeSet::new();
    for (path, item) in api["paths"].as_object().unwrap() {
        for method in ["get", "put", "post", "delete", "options", "head", "patch", "trace"] {
            if item.get(method).is_some() {
                documented.insert((path.clone(), method.to_owned()));
            }
        }
    }
    assert_eq!(routes, documented);
}

#[test]
fn the_document_is_openapi_3_1_and_every_reference_leads_somewhere() {
    fn walk(api: &Value, value: &Value) {
        match value {
            Value::Object(members) => {
                if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
                    let pointer = reference.strip_prefix('#').unwrap();
                    assert!(api.pointer(pointer).is_some(), "{reference} leads nowhere");
                }
                members.values().for_each(|member| walk(api, member));
            }
            Value::Array(items) => items.iter().for_each(|item| walk(api, item)),
            _ => {}
        }
    }
    let api = api();
    assert!(api["openapi"].as_str().unwrap().starts_with("3.1."));
    walk(&api, &api);
}

#[test]
fn every_operation_says_what_it_answers_and_who_may_ask() {
    let api = api();
    for (path, item) in api["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let place = format!("{method} {path}");
            assert!(operation["summary"].is_string(), "{place} has no summary");
            assert!(operation["security"].is_array(), "{place} does not say who may ask");
            for (status, response) in operation["responses"].as_object().unwrap() {
                assert!(response["content"].is_object(), "{place} {status} has no body");
            }
            if path.starts_with("/v1/") {
                assert_eq!(operation["security"], json!([{ "token": [] }]), "{place}");
                assert!(operation["responses"]["default"].is_object(), "{place} has no problems");
            }
            if method == "post" {
                assert!(
                    operation["requestBody"]["content"]["application/json"]["schema"].is_object(),
                    "{place}"
                );
            }
        }
    }
}

/// Panics where the document does not have this answer of this request.
#[track_caller]
pub(super) fn check_answer(method: &str, path: &str, answer: &Answer) {
    let api = api();
    let path = path.split('?').next().unwrap();
    let template = api["paths"].as_object().unwrap().keys().find(|template| matches(template, path));
    let operation = template.and_then(|template| api["paths"][template].get(method.to_ascii_lowercase()));
    let schema = match operation {
        Some(operation) => {
            let responses = &operation["responses"];
            let response = responses.get(answer.status.to_string()).or(responses.get("default"));
            let response =
                response.unwrap_or_else(|| panic!("{method} {path}: {} is not documented", answer.status));
            let (kind, content) = response["content"].as_object().unwrap().iter().next().unwrap();
            assert!(answer.head.contains(&format!("content-type: {kind}")), "{}", answer.head);
            content["schema"].clone()
        }
        // Unknown paths and wrong methods.
        None => json!({ "$ref": "#/components/schemas/Problem" }),
    };
    let schema = json!({ "allOf": [schema], "components": api["components"] });
    let schema = Schema::compile(&JsonText::parse(schema.to_string()).unwrap()).unwrap();
    let fits = schema.check(&JsonText::parse(answer.text.clone()).unwrap());
    assert!(fits.is_ok(), "{method} {path}: {} does not fit the document: {fits:?}", answer.text);
}

fn matches(template: &str, path: &str) -> bool {
    let (template, path): (Vec<_>, Vec<_>) = (template.split('/').collect(), path.split('/').collect());
    template.len() == path.len()
        && template.iter().zip(path).all(|(part, given)| part.starts_with('{') || *part == given)
}
