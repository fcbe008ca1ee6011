//! The tools that can be called.

use serde::Serialize;
use tether_core::digest::Digest;
use tether_core::id::ComponentName;
use tether_core::tool::{self, Offer};
use utoipa::ToSchema;

use super::handler::{Component, Endpoint, handler};
use super::splice::Spliced;

/// Every tool, ordered by name.
#[derive(Debug, Serialize, ToSchema)]
pub struct ToolList {
    /// The tools.
    pub tools: Vec<Tool>,
}

/// One tool.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// What a model calls it by.
    pub name: String,
    /// A short name for people.
    #[schema(required)]
    pub title: Option<String>,
    /// What it does, for the model that chooses it.
    pub description: String,
    /// Whether it reads or writes.
    pub effect: ToolEffect,
    /// JSON Schema (2020-12) of the arguments.
    #[schema(value_type = serde_json::Value)]
    pub input_schema: Spliced,
    /// JSON Schema of the result; null where the tool promises none.
    #[schema(required, value_type = serde_json::Value)]
    pub output_schema: Option<Spliced>,
    /// The component that offers it, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub component: Option<Component>,
    /// The endpoint that offers it, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub endpoint: Option<Endpoint>,
}

/// What a call of a tool may do.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum ToolEffect {
    /// It changes nothing, and runs at once.
    Read,
    /// It changes something, and waits for a person.
    Write,
}

impl From<&Offer> for Tool {
    fn from(offer: &Offer) -> Self {
        let (component, endpoint) = handler(&offer.binding);
        Self { component, endpoint, ..Self::of_nobody(&offer.tool) }
    }
}

impl Tool {
    /// A tool of this component.
    pub(super) fn of(tool: &tool::Tool, component: &ComponentName, digest: &Digest) -> Self {
        Self { component: Some(Component::new(component, digest)), ..Self::of_nobody(tool) }
    }

    fn of_nobody(tool: &tool::Tool) -> Self {
        Self {
            name: tool.name.to_string(),
            title: tool.title.clone(),
            description: tool.description.clone(),
            effect: match tool.effect {
                tool::ToolEffect::Read => ToolEffect::Read,
                tool::ToolEffect::Write => ToolEffect::Write,
            },
            input_schema: tool.input_schema.clone().into(),
            output_schema: tool.output_schema.clone().map(Spliced::from),
            component: None,
            endpoint: None,
        }
    }
}
