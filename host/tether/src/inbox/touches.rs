//! What an action may touch: the handler that it is bound to, and its grants.

use maud::{Markup, html};
use tether_core::destination::Destination;
use tether_core::grant::{Binding, BoundComponent, BoundEndpoint, DatabaseGrant};

use super::words::{code, told};

pub(super) fn section(binding: &Binding) -> Markup {
    html! {
        section.sheet aria-labelledby="touches" {
            h2 #touches { "What it may touch" }
            @match binding {
                Binding::Component(bound) => (component(bound)),
                Binding::Endpoint(bound) => (endpoint(bound)),
            }
        }
    }
}

fn component(bound: &BoundComponent) -> Markup {
    html! {
        dl.pairs {
            dt { "Databases" }
            @if bound.grants.databases.is_empty() { dd { "None" } }
            @for (name, grant) in &bound.grants.databases {
                dd { (code(name.as_str())) ": " (database(grant)) }
            }
            dt { "Requests" }
            @if bound.grants.destinations.is_empty() { dd { "None: it reaches nothing outside" } }
            @for destination in &bound.grants.destinations { dd { (reached(destination)) } }
            dt { "Component" }
            dd { (code(bound.component.as_str())) }
            dd.quiet { (code(&bound.digest.to_string())) }
        }
    }
}

fn database(grant: &DatabaseGrant) -> Markup {
    match grant {
        DatabaseGrant::Own => html! { "its own, for this tenant alone" },
        DatabaseGrant::Sqlite { path, shared } => html! {
            "the file " (code(path)) @if *shared { ", which tenants share" }
        },
    }
}

/// Names of headers only: what they hold is the operator's.
fn reached(destination: &Destination) -> Markup {
    let Destination { origin, methods, read_methods, networks, key_header, headers } = destination;
    let listed = |texts: Vec<String>| texts.join(", ");
    let methods: Vec<_> = methods.union(read_methods).map(ToString::to_string).collect();
    let added: Vec<_> = headers.keys().chain(key_header).cloned().collect();
    let networks: Vec<_> = networks.iter().map(ToString::to_string).collect();
    html! {
        (code(&origin.to_string())) ": " (told(&listed(methods)))
        @if !added.is_empty() { span.quiet { ", with the header " (told(&listed(added))) } }
        @if !networks.is_empty() { span.quiet { ", also within " (told(&listed(networks))) } }
    }
}

fn endpoint(bound: &BoundEndpoint) -> Markup {
    html! {
        dl.pairs {
            dt { "Endpoint" }
            dd { (code(&bound.url)) }
            dt { "Definition" }
            dd.quiet { (code(&bound.definition.to_string())) }
        }
        p.quiet { "It runs outside of this host: what it touches there, only its operator knows." }
    }
}
