//! One configured endpoint.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use http::HeaderValue;
use http::header::{ACCEPT, CONTENT_TYPE};
use reqwest::Url;
use tether_core::destination::{Destination, Method};
use tether_core::digest::Digest;
use tether_core::grant::{Binding, BoundEndpoint};
use tether_core::invocation::Invocation;
use tether_core::schema::Schema;
use tether_core::tool::{Offer, Tool, ToolEffect};

use super::{EndpointSettings, InvalidEndpoint};
use crate::outbound::headers::carry_secrets;
use crate::outbound::lane::Lane;
use crate::outbound::parcel::{Parcel, host_headers};
use crate::outbound::{Outbound, Secrets};

/// Where calls go, and how.
pub(super) struct Remote {
    url: Url,
    method: Method,
    destination: Destination,
    pub(super) lane: Arc<Lane>,
}

/// A tool of an endpoint.
pub(super) struct RemoteTool {
    pub(super) offer: Arc<Offer>,
    pub(super) output: Option<Arc<Schema>>,
    pub(super) remote: Arc<Remote>,
}

impl Remote {
    /// The endpoint, checked, and its tools.
    pub(super) fn tools(
        outbound: &Outbound,
        settings: EndpointSettings,
    ) -> Result<Vec<RemoteTool>, InvalidEndpoint> {
        let EndpointSettings { url, headers, key_header, tools } = settings;
        let invalid = |why: String| InvalidEndpoint(format!("the endpoint {url:?}: {why}"));
        let parsed = parse(&url).map_err(&invalid)?;
        let destination = destination(&parsed, headers, key_header).map_err(&invalid)?;
        outbound.check(&destination).map_err(&invalid)?;
        let lane = outbound.lane(&destination);
        let method = "POST".parse().map_err(|error| invalid(format!("{error}")))?;
        let remote = Arc::new(Self { url: parsed, method, destination, lane });
        tools.into_iter().map(|tool| remote.clone().tool(tool).map_err(&invalid)).collect()
    }

    fn tool(self: Arc<Self>, tool: Tool) -> Result<RemoteTool, String> {
        let invalid = |which, error| format!("the {which} of {}: {error}", tool.name);
        let input = Schema::compile(&tool.input_schema).map_err(|error| invalid("input schema", error))?;
        let output = tool.output_schema.as_ref().map(Schema::compile).transpose();
        let output = output.map_err(|error| invalid("output schema", error))?.map(Arc::new);
        let definition = self.definition(&tool);
        let binding = Binding::Endpoint(BoundEndpoint { url: self.url.to_string(), definition });
        let offer = Arc::new(Offer { tool, binding, input: Arc::new(input) });
        Ok(RemoteTool { offer, output, remote: self })
    }

    /// All that a person's decision about a call rests on: what the tool is said to be,
    /// and how it is called. Of a secret only its name.
    fn definition(&self, tool: &Tool) -> Digest {
        let Tool { name, title, description, effect, input_schema, output_schema } = tool;
        let effect = match effect {
            ToolEffect::Read => "read",
            ToolEffect::Write => "write",
        };
        let input = input_schema.fingerprint().to_string();
        let output = output_schema.as_ref().map(|schema| schema.fingerprint().to_string());
        let Destination { key_header, headers, .. } = &self.destination;
        let all = (name.as_str(), title, description, effect, input, output, key_header, headers);
        // Text and maps of text are always written.
        Digest::of(serde_json::to_string(&all).unwrap_or_default())
    }

    /// The call as it leaves. The arguments go as the text that was received. The error
    /// cannot happen: what it is about was checked at the start.
    pub(super) fn parcel(&self, invocation: &Invocation, secrets: &Secrets) -> Result<Parcel, String> {
        let mut headers = host_headers(&self.destination, invocation.request_id, secrets)?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.entry(ACCEPT).or_insert(HeaderValue::from_static("application/json"));
        let (method, url) = (self.method.clone(), self.url.clone());
        let has_secrets = carry_secrets(&self.destination);
        Ok(Parcel { method, url, headers, body: body(invocation), has_secrets })
    }
}

/// The protocol's body.
fn body(invocation: &Invocation) -> Bytes {
    let Invocation { request_id, tool, tenant, user, arguments, .. } = invocation;
    // A string is always written.
    let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
    let (tool, tenant, user) = (quoted(tool.as_str()), quoted(tenant.as_str()), quoted(user.as_str()));
    let text = format!(
        r#"{{"request_id":"{request_id}","tool":{tool},"tenant":{tenant},"user":{user},"args":{arguments}}}"#
    );
    text.into()
}

fn parse(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("it is no URL: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("it starts with neither https:// nor http://".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it names a user; put credentials into its headers".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("it has a query or a fragment; leave them out".to_owned());
    }
    Ok(url)
}

/// The operator named the place: it may be at any address.
fn destination(
    url: &Url,
    headers: BTreeMap<String, String>,
    key_header: Option<String>,
) -> Result<Destination, String> {
    let anywhere = ["0.0.0.0/0", "::/0"].iter().map(|network| network.parse()).collect::<Result<_, _>>();
    Ok(Destination {
        origin: url.origin().ascii_serialization().parse().map_err(|error| format!("{error}"))?,
        methods: Default::default(),
        read_methods: Default::default(),
        networks: anywhere.map_err(|error| format!("{error}"))?,
        key_header: key_header.map(|name| name.to_ascii_lowercase()),
        headers: headers.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect(),
    })
}
