//! What MCP must say, by what HTTP said.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::calls::{Call, OverMcp};
use super::world::Way;
use crate::mcp::client::Told;
use crate::support::Answer;

/// What MCP must say to a call, by what HTTP said.
pub(super) struct Check<'a> {
    pub(super) call: &'a Call,
    pub(super) http: &'a Answer,
    pub(super) way: &'a Way,
    pub(super) told: Told,
}

impl Check<'_> {
    #[track_caller]
    pub(super) fn run(&self) {
        match (self.call.over_mcp, self.http.status) {
            (OverMcp::Error(code), _) => self.is_an_error(code),
            (OverMcp::Blocks(content, structured), _) => self.is_content(content, structured),
            (OverMcp::Same, 200) => self.is_the_output(self.http.raw("result")),
            (OverMcp::Same, 202) => {
                let told = structured(&self.told).expect("an action");
                assert_eq!(blank(&told), blank(&on_one_line(&self.http.text)), "{}", self.about());
            }
            (OverMcp::Same, _) => is_problem(&self.http.body, &self.told, &self.about()),
            (OverMcp::SameButTime, _) => {
                let mut http = self.http.body.clone();
                http["detail"] = self.told.result()["_meta"]["tether/problem"]["detail"].clone();
                is_problem(&http, &self.told, &self.about());
            }
        }
    }

    fn about(&self) -> String {
        let Call { tool, arguments, .. } = self.call;
        let arguments = arguments.as_deref().unwrap_or("nothing");
        let arguments: String = arguments.chars().take(200).collect();
        format!("{tool} with {arguments}, {}: {} {}", self.way.name, self.told.status, self.told.text)
    }

    /// An output is text and structured content, to the letter.
    #[track_caller]
    fn is_the_output(&self, output: &str) {
        // What comes in on one line goes out on one.
        let line = on_one_line(output);
        let output = if self.way.is_over_http() { output } else { &line };
        let is_structured = self.way.is_stateless() || output.starts_with('{');
        assert_eq!(structured(&self.told), is_structured.then(|| on_one_line(output)), "{}", self.about());
        let characters = serde_json::from_str::<String>(output).unwrap_or_else(|_| output.to_owned());
        assert_eq!(self.told.said(), characters, "{}", self.about());
        self.has_attempts();
    }

    /// Blocks are as the output has them.
    #[track_caller]
    fn is_content(&self, content: &str, expected: Option<&str>) {
        let content: Value = serde_json::from_str(content).expect("a list");
        assert_eq!(self.told.result()["content"], content, "{}", self.about());
        assert_eq!(structured(&self.told).as_deref(), expected, "{}", self.about());
        self.has_attempts();
    }

    #[track_caller]
    fn has_attempts(&self) {
        let result = self.told.result();
        assert_eq!(result["isError"], false, "{}", self.about());
        assert_eq!(result["_meta"]["tether/attempts"], self.http.body["attempts"], "{}", self.about());
    }

    #[track_caller]
    fn is_an_error(&self, code: i64) {
        assert_eq!(self.told.error(), code, "{}", self.about());
        if self.http.str("code") == "TOOL_NOT_FOUND" {
            assert_eq!(self.told.message["error"]["data"]["code"], "TOOL_NOT_FOUND");
        }
    }
}

/// A problem is HTTP's but for the id of the request.
#[track_caller]
pub(super) fn is_problem(http: &Value, told: &Told, about: &str) {
    let without_id = |problem: &Value| {
        let mut problem = problem.clone();
        let id = problem.as_object_mut().and_then(|problem| problem.remove("requestId"));
        (problem, id.is_some_and(|id| id.is_string()))
    };
    let problem = &told.result()["_meta"]["tether/problem"];
    assert_eq!(without_id(problem), without_id(http), "{about}");
    let code = told.code();
    assert!(told.said().starts_with(&format!("{code}: ")), "{about}");
    assert_eq!(structured(told), None, "{about}");
}

/// The structured content, to the letter.
pub(super) fn structured(told: &Told) -> Option<String> {
    #[derive(Deserialize)]
    struct Message {
        result: Contents,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Contents {
        structured_content: Option<Box<RawValue>>,
    }
    // `null` is content, where it is there.
    let is_there = told.result().get("structuredContent").is_some();
    let message: Message = serde_json::from_str(told.last()).expect("a message with a result");
    let text = message.result.structured_content.map(|text| text.get().to_owned());
    is_there.then(|| text.unwrap_or_else(|| "null".to_owned()))
}

/// The only action of a list, to the letter.
pub(super) fn only_action(told: &Told) -> String {
    #[derive(Deserialize)]
    struct List {
        actions: Vec<Box<RawValue>>,
    }
    let list: List = serde_json::from_str(&structured(told).expect("a list")).expect("a list");
    assert_eq!(list.actions.len(), 1, "{}", told.text);
    list.actions[0].get().to_owned()
}

/// In a stream, blanks stand for line breaks.
pub(super) fn on_one_line(json: &str) -> String {
    json.replace(['\n', '\r'], " ")
}

/// An action without what no two have alike.
fn blank(action: &str) -> String {
    let object: Value = serde_json::from_str(action).expect("an action");
    let own = ["actionId", "createdAt", "expiresAt"].map(|name| object[name].as_str().unwrap_or("none"));
    own.iter().fold(action.to_owned(), |text, own| text.replace(own, "…"))
}
