//! A request of a read, and the redirects that it leads through.

use std::sync::Arc;

use http::StatusCode;
use http::header::LOCATION;
use reqwest::Url;

use super::check::{self, Checked, denied, origin, parse_url, refused};
use super::lane::Lane;
use super::{Response, SendError, headers};

/// So many redirects are followed; one more is an error.
const MOST_REDIRECTS: usize = 5;

/// Where a request goes next.
pub(super) struct Hop {
    pub(super) checked: Checked,
    /// Whether it has left the origin that it was meant for: then it carries no key
    /// and nothing of an operator's, for good. That the handler may ask the new origin
    /// does not mean that the old one may, with the new one's secrets.
    pub(super) crossed: bool,
}

/// Sends a request with `send`, and on to where it is redirected.
///
/// An echo of a secret in a `Location` is masked like any other, so none crosses in a
/// URL either.
pub(super) async fn follow<F>(
    checked: Checked,
    lanes: &[Arc<Lane>],
    send: impl Fn(&Hop) -> F,
) -> Result<Response, SendError>
where
    F: Future<Output = Result<Response, SendError>>,
{
    let mut hop = Hop { checked, crossed: false };
    let mut followed = 0;
    loop {
        let response = send(&hop).await?;
        let Some(target) = target(&response, &hop.checked.url)? else { return Ok(response) };
        if followed == MOST_REDIRECTS {
            return Err(refused(format!("it was redirected more than {MOST_REDIRECTS} times")));
        }
        followed += 1;
        hop = hop.next(target, response.status(), lanes)?;
    }
}

/// Where the answer leads, if it is a redirect that says so.
fn target(response: &Response, from: &Url) -> Result<Option<Url>, SendError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = response.headers().get(LOCATION) else { return Ok(None) };
    let joined = location.to_str().ok().and_then(|location| from.join(location).ok());
    let Some(joined) = joined else { return Err(denied("the redirect leads to no URL")) };
    // A relative one can be joined to more than is sent.
    parse_url(joined.as_str()).map(Some)
}

impl Hop {
    /// The next hop, checked as if the handler had asked for it.
    fn next(self, target: Url, status: StatusCode, lanes: &[Arc<Lane>]) -> Result<Self, SendError> {
        let Checked { mut method, url, mut headers, mut body, .. } = self.checked;
        let crosses = url.origin() != target.origin();
        if url.scheme() == "https" && target.scheme() == "http" {
            return Err(refused(format!("the redirect leads from https to {}", origin(&target))));
        }
        if !matches!(status.as_u16(), 307 | 308) {
            if method.as_str() != "HEAD" {
                method = "GET".parse().map_err(|invalid| denied(format!("{invalid}")))?;
            }
            body.clear();
            headers::drop_body(&mut headers);
        } else if crosses && !body.is_empty() {
            return Err(refused(format!("the redirect would carry the body to {}", origin(&target))));
        }
        if crosses {
            headers::keep_crossing(&mut headers);
        }
        let lane = check::choose(lanes, &method, &target, true)?.clone();
        if let Some(reason) = headers.keys().find_map(|name| headers::denied(name, &lane.destination)) {
            return Err(denied(reason));
        }
        let checked = Checked { lane, method, url: target, headers, body };
        Ok(Self { checked, crossed: self.crossed || crosses })
    }
}
