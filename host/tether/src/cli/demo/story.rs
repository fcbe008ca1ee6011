//! The story: a read that is retried, a write that two people confirm, and a host
//! that is killed in the middle of one.

use std::time::Duration;

use serde_json::{Value, json};
use tether_transport::client::Client;

use super::server::Server;
use super::stage::{Seen, Stage};

/// Far longer than the story takes: whoever stalls so long is killed.
const STALL_SECONDS: u32 = 600;

/// How often a state is looked at that is about to come.
const GLANCE: Duration = Duration::from_millis(20);

/// Glances before the state is given up.
const GLANCES: u32 = 1_500;

pub(super) async fn tell(stage: &mut Stage, server: &mut Server) -> anyhow::Result<()> {
    a_read_is_retried(stage, &server.client()).await?;
    two_people_confirm(stage, &server.client()).await?;
    a_failure_goes_back_to_the_person(stage, server).await?;
    a_success_survives_the_host(stage, server).await
}

async fn a_read_is_retried(stage: &mut Stage, client: &Client) -> anyhow::Result<()> {
    stage.scene("A read whose first attempt fails is repeated: that is safe");
    let path = "v1/tools/unsteady_read/calls";
    let seen = stage.post(client, path, json!({ "args": { "fails": 1 } })).await?;
    stage.promise(seen.http == 200 && seen.body["attempts"] == 2, "the second attempt answered");
    let seen = stage.post(client, path, json!({ "args": { "fails": 3 } })).await?;
    stage.promise(seen.http == 503 && seen.body["attempts"] == 3, "three attempts are the end");
    Ok(())
}

async fn two_people_confirm(stage: &mut Stage, client: &Client) -> anyhow::Result<()> {
    stage.scene("A write waits for a person");
    let action = propose(stage, client, "void_ticket", json!({ "ticket_id": 42 })).await?;
    stage.promise(action.text("status") == "Pending", "it is only proposed");
    let ticket = ticket(stage, client).await?;
    stage.promise(ticket.body["result"]["state"] == "open", "nothing has happened to the ticket");

    stage.scene("Two confirmations race: it is executed once");
    let path = confirm_path(&action);
    let body = json!({ "attemptsUsed": 0 });
    let (one, two) =
        tokio::join!(stage.post(client, &path, body.clone()), stage.post(client, &path, body.clone()));
    let (one, two) = (one?, two?);
    let mut statuses = [one.text("status"), two.text("status")];
    statuses.sort_unstable();
    stage.promise(statuses == ["Replayed", "Succeeded"], "one succeeded, the other got its result");
    stage.promise(one.body["result"] == two.body["result"], "both results are the same");

    stage.scene("Whoever asks again gets the result again");
    let again = stage.post(client, &path, body).await?;
    stage.promise(again.text("status") == "Replayed", "it is a replay, and says so");
    stage.promise(again.body["result"] == one.body["result"], "the result is the first one");
    let ticket = self::ticket(stage, client).await?;
    stage.promise(ticket.body["result"]["state"] == "void", "the ticket is void");
    Ok(())
}

async fn a_failure_goes_back_to_the_person(stage: &mut Stage, server: &mut Server) -> anyhow::Result<()> {
    stage.scene("kill -9 before the write's commit");
    let args = json!({ "text": "before", "stall": "before-commit", "seconds": STALL_SECONDS });
    let action = propose(stage, &server.client(), "write_note", args).await?;
    confirm_and_kill(stage, server, &action, async |stage, client| {
        let seen = stage.get(client, &action_path(&action)).await?;
        Ok(seen.text("status") == "Executing")
    })
    .await?;

    let client = server.client();
    let seen = stage.get(&client, &action_path(&action)).await?;
    stage.promise(seen.text("status") == "Pending", "a person can confirm it again");
    stage.promise(seen.body["attemptsUsed"] == 1, "the interrupted attempt counts");
    stage.promise(seen.text("effect") == "None", "it says that nothing was done");
    stage.promise(notes(stage, &client, "before").await? == 0, "and nothing was");

    let seen = stage.post(&client, &confirm_path(&action), json!({ "attemptsUsed": 1 })).await?;
    stage.promise(seen.text("status") == "Succeeded", "the second attempt succeeds");
    stage.promise(notes(stage, &client, "before").await? == 1, "there is one note");
    Ok(())
}

async fn a_success_survives_the_host(stage: &mut Stage, server: &mut Server) -> anyhow::Result<()> {
    stage.scene("kill -9 after the write's commit, before anybody was told");
    let args = json!({ "text": "after", "stall": "after-commit", "seconds": STALL_SECONDS });
    let action = propose(stage, &server.client(), "write_note", args).await?;
    confirm_and_kill(stage, server, &action, async |stage, client| {
        Ok(notes(stage, client, "after").await? == 1)
    })
    .await?;

    let client = server.client();
    let seen = stage.get(&client, &action_path(&action)).await?;
    stage.promise(seen.text("status") == "Succeeded", "the record says that it was done");
    let seen = stage.post(&client, &confirm_path(&action), json!({})).await?;
    stage.promise(seen.text("status") == "Replayed", "confirmed again, it is replayed");
    stage.promise(seen.body["result"]["text"] == "after", "with the result that was recorded");
    stage.promise(notes(stage, &client, "after").await? == 1, "there is one note");
    Ok(())
}

/// Confirms, waits until `in_the_middle`, kills the host, and starts it again.
async fn confirm_and_kill(
    stage: &mut Stage,
    server: &mut Server,
    action: &Seen,
    in_the_middle: impl AsyncFn(&Stage, &Client) -> anyhow::Result<bool>,
) -> anyhow::Result<()> {
    let client = server.client();
    stage.note(&format!("→ POST /{} (its answer will never come)", confirm_path(action)));
    let confirming = {
        let (client, path) = (client.clone(), confirm_path(action));
        tokio::spawn(async move { client.post(&path, json!({ "attemptsUsed": 0 }).to_string(), &[]).await })
    };
    let mut there = false;
    for _ in 0..GLANCES {
        there = in_the_middle(&Stage::silent(), &client).await?;
        if there {
            break;
        }
        tokio::time::sleep(GLANCE).await;
    }
    stage.promise(there, "the host is in the middle of it");
    server.kill().await?;
    stage.note("killed with kill -9");
    stage.promise(confirming.await?.is_err(), "whoever confirmed lost the connection");
    server.start_again().await?;
    stage.note("started again, and ready");
    Ok(())
}

async fn propose(stage: &Stage, client: &Client, tool: &str, args: Value) -> anyhow::Result<Seen> {
    stage.post(client, &format!("v1/tools/{tool}/calls"), json!({ "args": args })).await
}

async fn ticket(stage: &Stage, client: &Client) -> anyhow::Result<Seen> {
    stage.post(client, "v1/tools/get_ticket/calls", json!({ "args": { "ticket_id": 42 } })).await
}

/// How many notes with this text the database holds.
async fn notes(stage: &Stage, client: &Client, text: &str) -> anyhow::Result<usize> {
    let seen = stage.post(client, "v1/tools/list_notes/calls", json!({ "args": { "text": text } })).await?;
    Ok(seen.body["result"]["notes"].as_array().map_or(usize::MAX, Vec::len))
}

fn action_path(action: &Seen) -> String {
    format!("v1/actions/{}", action.text("actionId"))
}

fn confirm_path(action: &Seen) -> String {
    format!("{}/confirm", action_path(action))
}
