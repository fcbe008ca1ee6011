//! `GET /v1/actions` and `GET /v1/actions/{actionId}`.

use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::http::{Method, StatusCode};
use axum::routing::get;
use tether_core::action::Status;

use super::auth::{ActionPath, Entered};
use super::problem::Rejection;
use super::reply::{Json, seen};
use super::{ANYBODY, Needs, Route};
use crate::wire;

pub(super) const LIST: Route =
    Route { method: Method::GET, path: "/v1/actions", needs: Needs::Bearer(ANYBODY), handler: || get(list) };
pub(super) const SHOW: Route = Route {
    method: Method::GET,
    path: "/v1/actions/{actionId}",
    needs: Needs::Bearer(ANYBODY),
    handler: || get(show),
};

/// The parameters of a list.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    status: Option<Status>,
    limit: usize,
    cursor: Option<String>,
}

/// Actions, newest first
///
/// An agent sees its own, an approver the tenant's.
#[utoipa::path(
    get,
    path = "/v1/actions",
    tag = "actions",
    params(
        ("status" = Option<wire::ActionStatus>, Query, description = "Only those that stand so."),
        ("limit" = Option<u32>, Query, description = "At most so many; 50 by default.", minimum = 1, maximum = 200),
        ("cursor" = Option<String>, Query, description = "The `nextCursor` of the part before."),
    ),
    responses((status = 200, description = "A part of the list.", body = wire::ActionList)),
)]
pub(super) async fn list(
    entered: Entered,
    query: Result<Query<Vec<(String, String)>>, QueryRejection>,
) -> Result<Json<wire::ActionList>, Rejection> {
    let Query(parameters) = query.map_err(|error| Rejection::malformed(error.body_text()))?;
    let Wanted { status, limit, cursor } = wanted(parameters).map_err(Rejection::malformed)?;
    let page = entered.gateway.actions(&entered.caller, status, limit, cursor).await?;
    let actions = page.actions.iter().map(seen).collect();
    Ok(Json(StatusCode::OK, wire::ActionList { actions, next_cursor: page.next }))
}

/// One action
#[utoipa::path(
    get,
    path = "/v1/actions/{actionId}",
    tag = "actions",
    params(("actionId" = String, Path, description = "The action.")),
    responses((status = 200, description = "The action as it stands.", body = wire::Action)),
)]
pub(super) async fn show(
    entered: Entered,
    ActionPath(id): ActionPath,
) -> Result<Json<wire::Action>, Rejection> {
    let action = entered.gateway.action(&entered.caller, id).await?;
    Ok(Json(StatusCode::OK, seen(&action)))
}

/// An unknown parameter is refused: a misspelled `status` would list everything.
fn wanted(parameters: Vec<(String, String)>) -> Result<Wanted, String> {
    let (mut status, mut limit, mut cursor) = (None, None, None);
    for (name, value) in parameters {
        let before = match name.as_str() {
            "status" => status.replace(value),
            "limit" => limit.replace(value),
            "cursor" => cursor.replace(value),
            _ => return Err(format!("`{name}` is no parameter here; there are status, limit and cursor")),
        };
        if before.is_some() {
            return Err(format!("`{name}` is given twice"));
        }
    }
    let status = status.filter(|word| !word.is_empty()).map(|word| {
        let known = Status::ALL.map(Status::as_str).join(", ");
        Status::from_word(&word).ok_or_else(|| format!("status is {word:?}; it must be one of {known}"))
    });
    let limit = limit.filter(|text| !text.is_empty()).map(|text| {
        let number = text.parse().ok().filter(|number| (1..=200).contains(number));
        number.ok_or_else(|| format!("limit is {text:?}; it must be a whole number from 1 to 200"))
    });
    Ok(Wanted {
        status: status.transpose()?,
        limit: limit.transpose()?.unwrap_or(50),
        cursor: cursor.filter(|cursor| !cursor.is_empty()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(parameters: &[(&str, &str)]) -> Result<Wanted, String> {
        wanted(parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn left_out_or_empty_means_the_default() {
        let default = Wanted { status: None, limit: 50, cursor: None };
        assert_eq!(parse(&[]).as_ref(), Ok(&default));
        assert_eq!(parse(&[("status", ""), ("limit", ""), ("cursor", "")]), Ok(default));
        let all = parse(&[("status", "Pending"), ("limit", "200"), ("cursor", "c")]);
        assert_eq!(all, Ok(Wanted { status: Some(Status::Pending), limit: 200, cursor: Some("c".into()) }));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let check = |parameters: &[(&str, &str)], part: &str| {
            let error = parse(parameters).unwrap_err();
            assert!(error.contains(part), "{error}");
        };
        check(&[("statsu", "Pending")], "`statsu` is no parameter");
        check(&[("status", "pending")], "one of Pending, Executing");
        check(&[("limit", "0")], "from 1 to 200");
        check(&[("limit", "201")], "from 1 to 200");
        check(&[("limit", "1"), ("limit", "2")], "given twice");
    }
}
