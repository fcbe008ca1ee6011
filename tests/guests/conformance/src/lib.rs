//! The tools that MCP's conformance suite calls by name: reads with each kind of content,
//! and writes for what it asks of tasks and of questions to a person. What its own server
//! would ask a client for, a person is asked here.

mod content;
mod reads;
mod writes;

use reads::*;
use writes::*;

tether_sdk::component! {
    tools: [
        test_simple_text, test_image_content, test_audio_content, test_embedded_resource,
        test_multiple_content_types, test_error_handling, test_tool_with_progress, test_logging_tool,
        json_schema_2020_12_tool, test_x_mcp_header, greet,
        test_elicitation, test_streaming_elicitation, test_input_required_result_elicitation,
        test_input_required_result_request_state, test_input_required_result_tampered_state,
        slow_compute, failing_job, confirm_delete,
    ],
    migrations: [],
}
