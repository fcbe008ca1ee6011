use std::time::Duration;

use super::{environment, toml, wrong};

#[test]
fn no_pages_call_and_a_session_lasts_an_hour() {
    let mcp = toml("").unwrap().mcp;
    assert_eq!((mcp.origins.len(), mcp.session), (0, Duration::from_secs(3600)));
    assert_eq!((mcp.max_sessions, mcp.page_size), (4_096, 500));
}

#[test]
fn what_is_set_counts() {
    let text = "[mcp]\norigins = [\"https://Agents.example.com/\"]\nsession = \"5m\"\nmax_sessions = 8\npage_size = 1";
    let mcp = toml(text).unwrap().mcp;
    assert_eq!(mcp.origins[0].to_string(), "https://agents.example.com");
    assert_eq!((mcp.session, mcp.max_sessions, mcp.page_size), (Duration::from_secs(300), 8, 1));
    assert_eq!(environment(&[("TETHER_MCP__PAGE_SIZE", "7")]).unwrap().mcp.page_size, 7);
}

#[test]
fn what_is_no_origin_and_what_is_out_of_range_is_refused() {
    wrong(toml("[mcp]\norigins = [\"*\"]"), &["`mcp.origins[0]`", "it must be the origin"]);
    wrong(toml("[mcp]\nsession = \"2d\""), &["`mcp.session`", "from \"1m\" to \"1d\""]);
    wrong(toml("[mcp]\nmax_sessions = 0"), &["`mcp.max_sessions`", "from 1 to 65536"]);
    wrong(toml("[mcp]\npage_size = 10001"), &["`mcp.page_size`", "from 1 to 10000"]);
    wrong(toml("[mcp]\norigin = []"), &["did you mean `origins`?"]);
}
