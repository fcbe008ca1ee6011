use tether_core::clock::Clock;
use tether_core::failure::Cause;
use tether_core::grant::{BoundComponent, BoundEndpoint, Grants};
use tether_core::retry::RetryPolicy;
use tether_core::schema::Schema;
use tether_core::tool::{Tool, ToolEffect};

use super::*;
use crate::clock::SystemClock;

/// Offers these tools, and says of itself who was asked.
struct Named(Binding, &'static [&'static str]);

fn component() -> Binding {
    let (component, digest) = ("tickets".parse().unwrap(), Digest::of("x"));
    Binding::Component(BoundComponent { component, digest, grants: Grants::default() })
}

fn endpoint() -> Binding {
    Binding::Endpoint(BoundEndpoint { url: "https://a.test/".into(), definition: Digest::of("x") })
}

impl Handlers for Named {
    fn offers(&self) -> Vec<Arc<Offer>> {
        let schema = JsonText::empty_object();
        let input = Arc::new(Schema::compile(&schema).unwrap());
        let offer = |name: &&str| {
            let tool = Tool {
                name: name.parse().unwrap(),
                title: None,
                description: "A tool".into(),
                effect: ToolEffect::Read,
                input_schema: schema.clone(),
                output_schema: None,
            };
            Arc::new(Offer { tool, binding: self.0.clone(), input: Arc::clone(&input) })
        };
        self.1.iter().map(offer).collect()
    }

    fn offer(&self, _: &ToolName) -> Option<Arc<Offer>> {
        unreachable!("the offers were taken at the start")
    }

    fn fits<'a>(
        &'a self,
        _: &'a TenantId,
        _: &'a Binding,
    ) -> BoxFuture<'a, Result<Result<(), Outdated>, NotNow>> {
        Box::pin(async { Ok(Err(Outdated(described(&self.0)))) })
    }

    fn preview<'a>(
        &'a self,
        _: &'a Binding,
        _: Invocation,
        _: Arc<Allowance>,
    ) -> BoxFuture<'a, Result<Option<String>, Failure>> {
        Box::pin(async { Ok(Some(described(&self.0))) })
    }

    fn read<'a>(
        &'a self,
        _: &'a Binding,
        _: Invocation,
        _: Arc<Allowance>,
    ) -> BoxFuture<'a, Result<JsonText, Failure>> {
        Box::pin(async { Err(Failure::new(Cause::Failed, described(&self.0))) })
    }

    fn write<'a>(&'a self, _: &'a Binding, _: Invocation, _: Arc<dyn Journal>) -> BoxFuture<'a, WriteReport> {
        unreachable!("nobody writes here")
    }

    fn records<'a>(
        &'a self,
        _: &'a TenantId,
        _: &'a Binding,
        _: RequestId,
    ) -> BoxFuture<'a, Result<Vec<Record>, Unreachable>> {
        Box::pin(async { Err(Unreachable(described(&self.0))) })
    }

    fn empty_records<'a>(
        &'a self,
        _: &'a TenantId,
        _: &'a Binding,
        _: RequestId,
    ) -> BoxFuture<'a, Result<(), Unreachable>> {
        Box::pin(async { Err(Unreachable(described(&self.0))) })
    }

    fn retain(&self, _: &[Digest]) {}
}

fn both(
    of_component: &'static [&'static str],
    of_endpoint: &'static [&'static str],
) -> Result<AllHandlers, ConfigError> {
    AllHandlers::new(Named(component(), of_component), Named(endpoint(), of_endpoint))
}

#[test]
fn the_tools_of_both_are_offered_by_name() {
    let all = both(&["b", "d"], &["a", "c"]).unwrap();
    let names: Vec<_> = all.offers().iter().map(|offer| offer.tool.name.to_string()).collect();
    assert_eq!(names, ["a", "b", "c", "d"]);
    assert_eq!(all.offer(&"c".parse().unwrap()).unwrap().binding, endpoint());
    assert!(all.offer(&"e".parse().unwrap()).is_none());
}

#[test]
fn a_tool_that_is_offered_twice_names_both() {
    let error = both(&["a", "b"], &["b"]).err().unwrap().to_string();
    for part in ["`b`", "component `tickets`", "endpoint https://a.test/"] {
        assert!(error.contains(part), "{part} is missing in: {error}");
    }
}

#[tokio::test]
async fn a_binding_leads_to_those_who_know_it() {
    let all = both(&["a"], &["b"]).unwrap();
    let tenant: TenantId = "acme".parse().unwrap();
    let key = RequestId::from_random([1; 16]);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let allowance = Arc::new(Allowance::new(RetryPolicy::default(), Arc::clone(&clock), || 0.0));
    let invocation = Invocation {
        request_id: key,
        tool: "a".parse().unwrap(),
        tenant: tenant.clone(),
        user: "agent".parse().unwrap(),
        arguments: JsonText::empty_object(),
        attempt: 1,
        timeout: allowance.timeout(),
    };
    for binding in [component(), endpoint()] {
        let asked = described(&binding);
        let fit = all.fits(&tenant, &binding).await.unwrap();
        assert_eq!(fit, Err(Outdated(asked.clone())));
        let preview = all.preview(&binding, invocation.clone(), Arc::clone(&allowance)).await;
        assert_eq!(preview.unwrap(), Some(asked.clone()));
        let read = all.read(&binding, invocation.clone(), Arc::clone(&allowance)).await;
        assert_eq!(read.unwrap_err().message, asked);
        assert_eq!(all.records(&tenant, &binding, key).await.unwrap_err().0, asked);
        assert_eq!(all.empty_records(&tenant, &binding, key).await.unwrap_err().0, asked);
    }
}
