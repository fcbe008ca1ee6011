//! What rmcp asks of us.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams, CustomRequest, CustomResult,
    GetTaskParams, GetTaskResult, Implementation, InitializeRequestParams, InitializeResult, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, SubscriptionFilter, Tool,
    UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use tether_gateway::Gateway;
use tokio::sync::watch;

use super::action::Pages;
use super::asked::Asked;
use super::exchange::Exchange;
use super::tools::Tools;
use super::{problem, revision, words};

/// How long a list may be kept by whoever asked, in milliseconds: it changes with a restart.
const FRESH: u64 = 60_000;

/// One server for all: whatever belongs to a request comes with it.
#[derive(Clone)]
pub(super) struct Server {
    shared: Arc<Shared>,
    /// Whether arguments may be repeated in headers.
    has_headers: bool,
}

/// What serves every request.
pub(super) struct Shared {
    pub(super) gateway: Arc<Gateway>,
    pub(super) tools: Tools,
    pub(super) pages: Pages,
    pub(super) asked: Asked,
    /// True once the host is about to stop.
    pub(super) closing: watch::Receiver<bool>,
}

impl Shared {
    /// Until the host is about to stop.
    pub(super) async fn closes(&self) {
        let mut closing = self.closing.clone();
        // Whoever could say so is gone as well.
        let _ = closing.wait_for(|closing| *closing).await;
    }
}

/// Whether the request is of a revision without sessions.
pub(super) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| revision::is_stateless(version.as_str()))
}

impl Server {
    /// One for HTTP.
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, has_headers: true }
    }

    /// One for clients that cannot send headers.
    pub(super) fn without_headers(shared: Arc<Shared>) -> Self {
        Self { shared, has_headers: false }
    }

    pub(super) fn gateway(&self) -> &Arc<Gateway> {
        &self.shared.gateway
    }

    pub(super) fn tools(&self) -> &Tools {
        &self.shared.tools
    }

    pub(super) fn pages(&self) -> &Pages {
        &self.shared.pages
    }

    pub(super) fn asked(&self) -> &Asked {
        &self.shared.asked
    }

    /// Until the host is about to stop.
    pub(super) async fn closes(&self) {
        self.shared.closes().await;
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_tool_list_changed().enable_tasks().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("tether", env!("CARGO_PKG_VERSION")))
            .with_instructions(words::INSTRUCTIONS)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        revision::SPOKEN.into()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut begun = self.negotiate_initialize(&request)?;
        // The tasks are those of the revision without sessions.
        begun.capabilities.extensions = None;
        Ok(begun)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let (tools, next) = self.tools().page(cursor.as_deref())?;
        let mut list = ListToolsResult::with_all_items(tools);
        list.next_cursor = next;
        if is_stateless(&context) {
            list.ttl_ms = Some(FRESH);
            list.cache_scope = Some(CacheScope::Private);
        }
        Ok(list)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let exchange = exchange_of(&context)?;
        match &request.request_state {
            Some(state) => {
                let answers = request.input_responses.unwrap_or_default();
                self.resumed(&request.name, state, answers, &exchange).await
            }
            None => self.called(&request.name, &exchange, &context).await,
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let exchange = exchange_of(&context)?;
        self.looked_at(request, &exchange, &context).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let exchange = exchange_of(&context)?;
        self.answered_to(request, &exchange).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let exchange = exchange_of(&context)?;
        self.called_off(request, &exchange).await
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.has_headers.then(|| self.tools().get(name)).flatten().map(|listed| listed.tool.clone())
    }

    /// A method that rmcp knows arrives here where its parameters do not fit.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        const KNOWN: [&str; 8] = [
            "initialize",
            "server/discover",
            "subscriptions/listen",
            "tasks/cancel",
            "tasks/get",
            "tasks/update",
            "tools/call",
            "tools/list",
        ];
        if KNOWN.contains(&request.method.as_str()) {
            return Err(problem::invalid(format!("the parameters do not fit `{}`", request.method)));
        }
        Err(problem::unknown_method(&request.method))
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = SubscriptionFilter::new();
        accepted.tools_list_changed = requested.tools_list_changed;
        Some(accepted)
    }

    /// The list is fixed for the life of the host: whoever listens looks at it once, and
    /// again when it listens again.
    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        if context.accepted().tools_list_changed == Some(true) {
            // It may be gone again.
            let _ = context.sink().notify_tool_list_changed().await;
        }
        tokio::select! {
            () = context.cancelled() => {}
            () = self.closes() => {}
        }
        Ok(())
    }

    async fn on_initialized(&self, _: NotificationContext<RoleServer>) {}
}

/// What goes along with a request; it is there, as every request comes through `endpoint.rs`.
fn exchange_of(context: &RequestContext<RoleServer>) -> Result<Arc<Exchange>, ErrorData> {
    Exchange::of(&context.extensions).ok_or_else(|| {
        tracing::error!("a request came without what goes along with it");
        problem::failed()
    })
}
