//! What a provider's claims make of somebody: tenant, user and roles.

use std::str::FromStr;

use serde_json::{Map, Value};
use tether_core::id::{TenantId, UserId};
use tether_core::identity::Role;

use super::jwt::Refused;

/// Where in the claims a value is: a member's name, or a JSON pointer (RFC 6901) where it
/// starts with `/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The names on the way, at least one.
    path: Vec<String>,
}

/// A text that names no claim.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a claim is the name of a member, such as \"sub\", or a JSON pointer, such as \"/realm_access/roles\""
)]
pub struct InvalidClaim;

impl FromStr for Claim {
    type Err = InvalidClaim;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let path: Vec<_> = match text.strip_prefix('/') {
            Some(pointer) => {
                pointer.split('/').map(|name| name.replace("~1", "/").replace("~0", "~")).collect()
            }
            None => vec![text.to_owned()],
        };
        if path.iter().any(String::is_empty) { Err(InvalidClaim) } else { Ok(Self { path }) }
    }
}

impl Claim {
    /// The object that the claim is a member of, and its name there.
    fn place<'c>(&self, claims: &'c Map<String, Value>) -> Option<(&'c Map<String, Value>, &str)> {
        let (name, way) = self.path.split_last()?;
        let place = way.iter().try_fold(claims, |place, name| place.get(name)?.as_object())?;
        Some((place, name))
    }

    fn of<'c>(&self, claims: &'c Map<String, Value>) -> Option<&'c Value> {
        let (place, name) = self.place(claims)?;
        place.get(name)
    }

    /// The claim where it is one text. An address of mail is one only once the provider
    /// has verified it: before that, anybody can write any.
    fn text<'c>(&self, claims: &'c Map<String, Value>) -> Option<&'c str> {
        let (place, name) = self.place(claims)?;
        if name == "email" && place.get("email_verified") != Some(&Value::Bool(true)) {
            return None;
        }
        place.get(name)?.as_str()
    }

    /// The words of a list, or of a text that is split at blanks.
    fn words<'c>(&self, claims: &'c Map<String, Value>) -> Vec<&'c str> {
        match self.of(claims) {
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(text)) => text.split_ascii_whitespace().collect(),
            _ => Vec::new(),
        }
    }
}

/// Whose somebody is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TenantOf {
    /// Everybody of this provider belongs to one tenant.
    One(TenantId),
    /// A claim says so.
    Claim {
        /// Which.
        claim: Claim,
        /// It may say these; anything, where there are none.
        allowed: Vec<TenantId>,
    },
}

/// The roles that words of a claim give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RolesOf {
    /// Where the words are.
    pub claim: Claim,
    /// The words for each role.
    pub words: Vec<(Role, Vec<String>)>,
}

impl RolesOf {
    /// The scopes of OAuth that give `role`; none where roles are in another claim.
    pub(super) fn scopes(&self, role: Role) -> Vec<&str> {
        let is_of_scopes = matches!(&self.claim.path[..], [name] if name == "scope" || name == "scp");
        let words = self.words.iter().filter(|(given, _)| is_of_scopes && *given == role);
        words.flat_map(|(_, words)| words).map(String::as_str).filter(|word| is_scope(word)).collect()
    }
}

/// Whether a scope can be written so (RFC 6749, section 3.3).
fn is_scope(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| matches!(byte, b'!' | b'#'..=b'[' | b']'..=b'~'))
}

/// What claims mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// Whose somebody is.
    pub tenant: TenantOf,
    /// Who.
    pub user: Claim,
    /// What they may do.
    pub roles: RolesOf,
}

impl Mapping {
    /// Whom `claims`, which are true, speak of. Without a role somebody is known, and may
    /// do nothing.
    pub(super) fn read(&self, claims: &Map<String, Value>) -> Result<(TenantId, UserId, Vec<Role>), Refused> {
        let user = self.user.text(claims).and_then(|text| text.parse().ok());
        let user = user.ok_or(Refused("its claims name no user"))?;
        Ok((self.tenant(claims)?, user, self.roles(claims)))
    }

    fn tenant(&self, claims: &Map<String, Value>) -> Result<TenantId, Refused> {
        match &self.tenant {
            TenantOf::One(tenant) => Ok(tenant.clone()),
            TenantOf::Claim { claim, allowed } => {
                let tenant = claim.text(claims).and_then(|text| text.parse::<TenantId>().ok());
                let tenant = tenant.ok_or(Refused("its claims name no tenant"))?;
                match allowed.is_empty() || allowed.contains(&tenant) {
                    true => Ok(tenant),
                    false => Err(Refused("its tenant is not for this issuer to name")),
                }
            }
        }
    }

    fn roles(&self, claims: &Map<String, Value>) -> Vec<Role> {
        let given = self.roles.claim.words(claims);
        let gives = |words: &Vec<String>| words.iter().any(|word| given.contains(&word.as_str()));
        self.roles.words.iter().filter(|(_, words)| gives(words)).map(|(role, _)| *role).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn mapping() -> Mapping {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Mapping {
            tenant: TenantOf::Claim { claim: "org".parse().unwrap(), allowed: vec!["acme".parse().unwrap()] },
            user: "sub".parse().unwrap(),
            roles: RolesOf {
                claim: "/realm_access/roles".parse().unwrap(),
                words: vec![
                    (Role::Agent, words(&["bots"])),
                    (Role::Approver, words(&["support", "leads"])),
                    (Role::Admin, words(&[])),
                ],
            },
        }
    }

    #[track_caller]
    fn check(mapping: &Mapping, claims: Value, expected: Result<(&str, &str, &[Role]), &'static str>) {
        let read = mapping.read(claims.as_object().unwrap());
        let read = read.as_ref().map(|(tenant, user, roles)| (tenant.as_str(), user.as_str(), &roles[..]));
        assert_eq!(read.map_err(|Refused(why)| *why), expected, "{claims}");
    }

    #[test]
    fn claims_name_tenant_user_and_roles() {
        let roles = |roles: Value| json!({ "org": "acme", "sub": "ann", "realm_access": { "roles": roles } });
        let check = |claims, roles: &[Role]| check(&mapping(), claims, Ok(("acme", "ann", roles)));
        check(roles(json!(["leads", "bots", 7])), &[Role::Agent, Role::Approver]);
        check(roles(json!("support other")), &[Role::Approver]);
        // A word is a whole word, and the role's own name is none unless it is listed.
        check(roles(json!("supporters admin")), &[]);
        check(json!({ "org": "acme", "sub": "ann" }), &[]);
    }

    #[test]
    fn what_is_no_name_is_refused() {
        let user = Err("its claims name no user");
        for sub in [json!(null), json!(7), json!(""), json!(" ann"), json!("a\nb"), json!(["ann"])] {
            check(&mapping(), json!({ "org": "acme", "sub": sub }), user);
        }
        check(&mapping(), json!({ "org": "acme" }), user);
        check(&mapping(), json!({ "sub": "ann" }), Err("its claims name no tenant"));
        check(&mapping(), json!({ "org": ["acme"], "sub": "ann" }), Err("its claims name no tenant"));
        let other = json!({ "org": "globex", "sub": "ann" });
        check(&mapping(), other.clone(), Err("its tenant is not for this issuer to name"));
        let anything = TenantOf::Claim { claim: "org".parse().unwrap(), allowed: Vec::new() };
        check(&Mapping { tenant: anything, ..mapping() }, other, Ok(("globex", "ann", &[])));
    }

    #[test]
    fn an_address_of_mail_counts_once_it_is_verified() {
        let unverified = [json!(null), json!(false), json!("true"), json!(1)];
        for claim in ["email", "/email", "/profile/email"] {
            let mapping = Mapping { user: claim.parse().unwrap(), ..mapping() };
            let claims = |verified: &Value| {
                let mut place = json!({ "email": "ann@acme.test", "email_verified": verified });
                if claim.starts_with("/profile") {
                    place = json!({ "profile": place, "email_verified": true });
                }
                place["org"] = json!("acme");
                place
            };
            for verified in &unverified {
                check(&mapping, claims(verified), Err("its claims name no user"));
            }
            check(&mapping, claims(&json!(true)), Ok(("acme", "ann@acme.test", &[])));
        }
    }

    #[test]
    fn scopes_are_told_where_roles_are_of_scopes() {
        let roles = |claim: &str| RolesOf {
            claim: claim.parse().unwrap(),
            words: vec![
                (Role::Agent, ["tether.agent", "a b", "a\"b"].map(str::to_owned).to_vec()),
                (Role::Approver, vec!["tether.approver".to_owned()]),
            ],
        };
        for claim in ["scope", "scp", "/scope"] {
            assert_eq!(roles(claim).scopes(Role::Agent), ["tether.agent"], "{claim}");
        }
        for claim in ["groups", "/x/scope"] {
            assert_eq!(roles(claim).scopes(Role::Agent), [""; 0], "{claim}");
        }
    }

    #[test]
    fn a_claim_is_a_member_or_a_pointer() {
        let claims = json!({ "https://acme.test/roles": "a", "x": { "y/z": "b", "~": "c" } });
        let find = |claim: &str| claim.parse::<Claim>().unwrap().words(claims.as_object().unwrap());
        assert_eq!(find("https://acme.test/roles"), ["a"]);
        assert_eq!(find("/x/y~1z"), ["b"]);
        assert_eq!(find("/x/~0"), ["c"]);
        assert_eq!(find("/x/y"), [""; 0]);
        for wrong in ["", "/", "/x/", "//x"] {
            assert_eq!(wrong.parse::<Claim>(), Err(InvalidClaim), "{wrong:?}");
        }
    }
}
