//! Remote systems that offer tools.

use std::collections::BTreeMap;

use axum::http::Uri;
use tether_core::destination::OriginPattern;
use tether_core::id::ToolName;
use tether_transport::endpoint::EndpointSettings;

use super::header::{headers, key_header};
use super::secrets::Vault;
use super::section::{Section, Source};
use super::{ConfigError, tools};

/// The `endpoints` of a configuration. No two of them have a tool of one name.
pub(super) fn read(
    sections: Vec<Section<'_>>,
    source: &Source,
    vault: &mut Vault<'_>,
) -> Result<Vec<EndpointSettings>, ConfigError> {
    let mut endpoints = Vec::new();
    let mut taken: BTreeMap<ToolName, String> = BTreeMap::new();
    for section in sections {
        let place = section.place_of("tools");
        let endpoint = endpoint(section, source, vault)?;
        for tool in &endpoint.tools {
            if let Some(other) = taken.insert(tool.name.clone(), endpoint.url.clone()) {
                return Err(ConfigError(format!(
                    "{place}: the tool `{}` of {} is offered by {other} as well; rename one",
                    tool.name, endpoint.url
                )));
            }
        }
        endpoints.push(endpoint);
    }
    Ok(endpoints)
}

fn endpoint(
    mut section: Section<'_>,
    source: &Source,
    vault: &mut Vault<'_>,
) -> Result<EndpointSettings, ConfigError> {
    let (no_url, no_tools) = (section.place_of("url"), section.place_of("tools"));
    let url = section.take("url").map(|found| {
        let text = found.value.as_str().ok_or_else(|| found.wrong("it must be a text"))?;
        url(text).map_err(|message| found.refused(message))
    });
    let file = section.text("tools")?;
    let headers = headers(&mut section, vault)?;
    let key_header = key_header(&mut section, &headers)?;
    section.finish()?;

    let url =
        url.transpose()?.ok_or_else(|| ConfigError(format!("{no_url} is missing: where the endpoint is")))?;
    let file = file
        .ok_or_else(|| ConfigError(format!("{no_tools} is missing: a JSON file that describes its tools")))?;
    let tools = tools::read(&source.base.join(file))?;
    Ok(EndpointSettings { url, tools, headers, key_header })
}

/// An endpoint's URL in its normal form. The error says what is wrong, and shows
/// nothing of a URL that may hold a secret.
fn url(text: &str) -> Result<String, String> {
    let hides = |what: &str| format!("it holds {what}; a URL is shown and stored: use `headers` for secrets");
    if text.contains('?') {
        return Err(hides("a query"));
    }
    if text.contains('#') {
        return Err(hides("a fragment"));
    }
    let wrong = |why: &str| format!("{why}; write it like \"https://tools.example.com/tether\"");
    let uri: Uri = text.parse().map_err(|_| wrong("it is no URL"))?;
    let (scheme, authority) = match (uri.scheme_str(), uri.authority()) {
        (Some(scheme @ ("http" | "https")), Some(authority)) => (scheme, authority.as_str()),
        _ => return Err(wrong("it starts with neither https:// nor http://")),
    };
    if authority.contains('@') {
        return Err(hides("a user"));
    }
    if authority.contains('*') {
        return Err(wrong("an endpoint is at one place; it has no wildcard"));
    }
    let origin = format!("{scheme}://{authority}").parse::<OriginPattern>();
    let origin = origin.map_err(|error| error.to_string())?;
    Ok(format!("{origin}{}", uri.path()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_brought_into_its_normal_form() {
        let check = |text: &str, normal: &str| assert_eq!(url(text).as_deref(), Ok(normal));
        check("https://Tools.Example.com:443/Tether", "https://tools.example.com/Tether");
        check("http://localhost:3000", "http://localhost:3000/");
        check("http://[::1]:3000/a/b", "http://[::1]:3000/a/b");
    }

    #[test]
    fn what_is_no_url_of_an_endpoint_is_refused() {
        let check = |text: &str, part: &str| {
            let wrong = url(text).expect_err(text);
            assert!(wrong.contains(part), "{text}: {wrong}");
        };
        check("https://user:secret@a.test/", "use `headers`");
        check("https://a.test/?key=secret", "use `headers`");
        check("https://a.test/#part", "use `headers`");
        for text in ["ftp://a.test/", "a.test", "/path", ""] {
            check(text, "write it like");
        }
        check("https://*.a.test/", "no wildcard");
        check("https://a.test:0/", "port");
        check("https://a b.test/", "it is no URL");
    }
}
