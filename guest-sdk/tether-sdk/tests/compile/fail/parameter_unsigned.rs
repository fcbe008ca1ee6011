use tether_sdk::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

fn find(call: &Read, id: u64) -> Result<Row, DatabaseError> {
    call.query_one("main", "SELECT 1 WHERE 1 = $1", params![id])
}

fn main() {}
