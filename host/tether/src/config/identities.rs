//! Who may use the gateway.

use std::time::Duration;

use serde_json::Value;
use tether_core::id::TenantId;
use tether_core::identity::Role;
use tether_transport::errand::{Address, Reach};

use super::ConfigError;
use super::section::{Found, Section};
use crate::identity::{Algorithm, Claim, Expected, KeysAt, Mapping, ProviderSettings, RolesOf, TenantOf};

const SECOND: Duration = Duration::from_secs(1);

/// The `identities` section.
#[derive(Debug, Clone)]
pub struct Identities {
    /// Whether the host has a token of its own.
    pub first_token: bool,
    /// Whose tokens are taken.
    pub providers: Vec<ProviderSettings>,
}

/// Reads it, and adds the variables of the environment that can set it.
pub(super) fn read(root: &mut Section<'_>, variables: &mut Vec<String>) -> Result<Identities, ConfigError> {
    let mut section = root.section("identities")?;
    let first_token = section.optional_flag("first_token")?.unwrap_or(true);
    let sections = section.list("providers")?;
    variables.extend(section.finish()?);

    let many = sections.len() > 1;
    let mut providers: Vec<ProviderSettings> = Vec::new();
    for section in sections {
        let (issuer, tenant) = (section.place_of("issuer"), section.place_of("tenant.allowed"));
        let provider = provider(section)?;
        if providers.iter().any(|other| other.expected.issuer == provider.expected.issuer) {
            return Err(ConfigError::new(format!("{issuer}: another provider has it as well")));
        }
        // None may speak for the tenants of another.
        let anything =
            matches!(&provider.mapping.tenant, TenantOf::Claim { allowed, .. } if allowed.is_empty());
        if many && anything {
            return Err(ConfigError::new(format!(
                "{tenant} is missing: with more than one provider, each is told the tenants that it may name"
            )));
        }
        providers.push(provider);
    }
    Ok(Identities { first_token, providers })
}

fn provider(mut section: Section<'_>) -> Result<ProviderSettings, ConfigError> {
    let places = ["issuer", "audience", "tenant", "roles", "algorithms"].map(|key| section.place_of(key));
    let [no_issuer, no_audience, no_tenant, no_roles, no_algorithms] = places;
    let missing = |place: String, what: &str| ConfigError::new(format!("{place} is missing: {what}"));

    let issuer = section.take("issuer");
    let keys = section.take("keys").map(url).transpose()?;
    let audiences = section.take("audience").map(audiences).transpose()?;
    let algorithms = section.parsed_list("algorithms", |word| word.parse::<Algorithm>())?;
    let leeway = section.duration("leeway", Duration::ZERO..=300 * SECOND, 60 * SECOND)?;
    let refresh = section.duration("refresh", 30 * SECOND..=24 * 3600 * SECOND, 300 * SECOND)?;
    let tenant = section.take("tenant").map(|found| tenant(&section, found)).transpose()?;
    let user = section.parsed("user", claim)?;
    let roles = roles(section.section("roles")?)?;
    section.finish()?;

    let issuer = issuer.ok_or_else(|| missing(no_issuer, "the `iss` of its tokens"))?;
    let issuer = match (&keys, &issuer.value) {
        (Some(_), Value::String(text)) if !text.is_empty() => text.clone(),
        (Some(_), _) => return Err(issuer.wrong("it must be a text that is not empty")),
        // It is where its description is found.
        (None, _) => url(issuer)?,
    };
    let audiences =
        audiences.ok_or_else(|| missing(no_audience, "the `aud` of tokens that are for this host"))?;
    let tenant = tenant
        .ok_or_else(|| missing(no_tenant, "a tenant's name, or { claim = \"org\", allowed = [\"acme\"] }"))?;
    let roles =
        roles.ok_or_else(|| missing(no_roles, "such as { claim = \"groups\", approver = [\"support\"] }"))?;
    let algorithms = algorithms.unwrap_or_else(|| Algorithm::USUAL.to_vec());
    if algorithms.is_empty() {
        return Err(ConfigError::new(format!("{no_algorithms} is empty: no token could be taken")));
    }
    let user = user.map_or_else(|| claim("sub").map_err(ConfigError::new), Ok)?;
    Ok(ProviderSettings {
        expected: Expected { issuer, audiences, algorithms, leeway },
        keys: keys.map_or(KeysAt::Discovery, KeysAt::Url),
        refresh,
        mapping: Mapping { tenant, user, roles },
    })
}

/// A URL to which requests can be sent.
fn url(found: Found) -> Result<String, ConfigError> {
    let text = found.value.as_str().ok_or_else(|| found.wrong("it must be a text"))?;
    let address = Address::parse(text, Reach::Operators);
    address.map_err(|error| found.wrong(format!("{error}; write it like \"https://login.example.com\"")))?;
    Ok(text.to_owned())
}

/// One audience, or several.
fn audiences(found: Found) -> Result<Vec<String>, ConfigError> {
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let audiences = match &found.value {
        Value::Array(items) if !items.is_empty() => items.iter().map(text).collect(),
        one => text(one).map(|one| vec![one]),
    };
    audiences.ok_or_else(|| found.wrong("it must be a text, or a list of texts, none of them empty"))
}

fn tenant(provider: &Section<'_>, found: Found) -> Result<TenantOf, ConfigError> {
    let parse = |text: &str| text.parse::<TenantId>();
    match found.value {
        Value::Object(values) => {
            let mut section = provider.of_name("tenant", values)?;
            let place = section.place_of("claim");
            let claim = section.parsed("claim", claim)?;
            let allowed = section.parsed_list("allowed", parse)?.unwrap_or_default();
            section.finish()?;
            let claim = claim.ok_or_else(|| {
                ConfigError::new(format!("{place} is missing: the claim that names the tenant"))
            })?;
            Ok(TenantOf::Claim { claim, allowed })
        }
        Value::String(ref text) => parse(text).map(TenantOf::One).map_err(|error| found.wrong(error)),
        _ => Err(found.wrong("write a tenant's name, or { claim = \"org\", allowed = [\"acme\"] }")),
    }
}

/// None where nothing is said of them.
fn roles(mut section: Section<'_>) -> Result<Option<RolesOf>, ConfigError> {
    let [no_claim, nobody] = ["claim", "approver"].map(|key| section.place_of(key));
    let claim = section.parsed("claim", claim)?;
    let mut words = Vec::new();
    for role in Role::ALL {
        let given = section.parsed_list(role.as_str(), |word| match word {
            "" => Err("it must not be empty"),
            word => Ok(word.to_owned()),
        })?;
        words.push((role, given.unwrap_or_default()));
    }
    section.finish()?;
    match (claim, words.iter().all(|(_, words)| words.is_empty())) {
        (None, true) => Ok(None),
        (None, false) => Err(ConfigError::new(format!("{no_claim} is missing: the claim that names roles"))),
        (Some(_), true) => Err(ConfigError::new(format!(
            "{nobody}, agent and admin are all missing: the words of the claim that give each role"
        ))),
        (Some(claim), false) => Ok(Some(RolesOf { claim, words })),
    }
}

fn claim(text: &str) -> Result<Claim, String> {
    text.parse().map_err(|error| format!("{error}"))
}
