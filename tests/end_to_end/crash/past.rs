//! What is there when a host has died: its data folder, and what it did outside.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::folders;
use super::life::{Life, Told};
use super::told::Account;
use super::writes::{Outside, Write, check_keys, upstream};
use crate::support::{Answer, Api, Folder, Received, Upstream, collect, effects, lend, tether};

/// One kind of write, and the upstream that it reaches.
pub(super) struct World {
    write: Write,
    upstream: Upstream,
}

/// Everything that outlives a host.
pub(super) struct Past {
    folder: Folder,
    /// The action, once its proposal was answered.
    id: Option<String>,
    /// What had come to the upstream when the last life ended.
    requests: Vec<Received>,
    /// What happened so far, for messages.
    story: String,
}

/// What a life came to.
pub(super) struct Lived {
    /// The passings, in order: `committed#2`.
    pub(super) passed: Vec<String>,
    /// How long after the start it was seen that nothing is left to settle.
    pub(super) settled: Option<Duration>,
}

impl World {
    pub(super) fn new(write: Write) -> Self {
        Self { write, upstream: upstream() }
    }

    /// A life that dies at `halt`.
    #[track_caller]
    pub(super) fn die(&self, past: &mut Past, halt: &str) -> Lived {
        past.story.push_str(&format!(", dead at {halt}"));
        let (lived, told) = self.live(past, Some(halt));
        assert!(told.is_none(), "{}: it never came there", past.story);
        lived
    }

    /// A life to the end, in which the write is done and everything is as it must be.
    #[track_caller]
    pub(super) fn finish(&self, past: &mut Past) -> Lived {
        let (lived, told) = self.live(past, None);
        let told = told.unwrap_or_else(|| panic!("{}: it died by itself", past.story));
        assert!(matches!(told.str("status"), "Succeeded" | "Replayed"), "{}: {}", past.story, told.text);
        let audit = tether(&past.data(), &["audit", "verify", "--data-dir", "."]);
        let well = audit.stdout.contains("all is well: 1 actions and ");
        assert!(audit.code == 0 && well, "{}: {}", past.story, audit.stdout);
        lived
    }

    /// The same client in every life: it proposes with the same key, looks at the
    /// action, and confirms what it sees.
    fn live(&self, past: &mut Past, halt: Option<&str>) -> (Lived, Option<Answer>) {
        let is_first = !past.data().exists();
        lend(&past.data());
        let mut life = Life::begin(self.write.setup(&self.upstream).data_at(past.data()), halt);
        let before = self.upstream.received().len();
        let mut settled = None;
        let told = self.confirmed(&mut life, past, before, &mut settled);
        if halt.is_some() && told.is_ok() {
            // An end is told before it is written: what comes after that may be still to come.
            life.wait_for_its_death();
        }
        let Told { passed, halted, text } = life.end();
        past.requests = self.requests(past, before);
        // Whoever confirmed may have heard everything by then; the next life is asked whether it
        // is so.
        let may_be_told = passed.iter().any(|passing| passing.starts_with("end-told#"));
        assert!(told.is_err() == halted || halted && may_be_told, "{}: {told:?}\n{text}", past.story);
        if is_first {
            collect(&past.data());
            settled = None;
        }
        (Lived { passed, settled }, told.ok().filter(|_| !halted))
    }

    /// # Errors
    ///
    /// The host has died.
    fn confirmed(
        &self,
        life: &mut Life,
        past: &mut Past,
        before: usize,
        settled: &mut Option<Duration>,
    ) -> io::Result<Answer> {
        let api = life.ready()?;
        let id = self.proposed(&api, past)?;
        let action = api.try_get(&format!("/v1/actions/{id}"))?;
        *settled = Some(life.born.elapsed());
        self.check(&action, &self.outside(past, &id, before), past);

        let seen = &action.body["attemptsUsed"];
        let told = confirm(&api, &id, &format!(r#"{{"idempotencyKey":"k","attemptsUsed":{seen}}}"#))?;
        if action.str("status") == "Succeeded" {
            assert_eq!(told.str("status"), "Replayed", "{}", past.story);
            assert_eq!(told.raw("result"), action.raw("result"), "{}", past.story);
        }
        let outside = self.outside(past, &id, before);
        self.check(&told, &outside, past);

        // Whoever asks again is told the same, and nothing happens.
        let again = confirm(&api, &id, r#"{"idempotencyKey":"k"}"#)?;
        assert_eq!(again.str("status"), "Replayed", "{}: {}", past.story, again.text);
        assert_eq!(again.raw("result"), told.raw("result"), "{}", past.story);
        assert_eq!(self.outside(past, &id, before), outside, "{}", past.story);
        Ok(told)
    }

    /// The action's id: the same in every life, once somebody was told.
    fn proposed(&self, api: &Api, past: &mut Past) -> io::Result<String> {
        let body = format!(r#"{{"args":{}}}"#, self.write.arguments(&self.upstream));
        let path = format!("/v1/tools/{}/calls", self.write.tool());
        let answer = api.ask(&api.post_of(&path, &[("Idempotency-Key", "p")], body.as_bytes()))?;
        let id = answer.str("actionId").to_owned();
        assert!(!id.is_empty(), "{}: {}", past.story, answer.text);
        assert_eq!(*past.id.get_or_insert(id.clone()), id, "{}: what was told is there", past.story);
        Ok(id)
    }

    #[track_caller]
    fn check(&self, action: &Answer, outside: &Outside, past: &Past) {
        Account::told(action, &past.story).check(self.write, outside, &past.story);
    }

    fn requests(&self, past: &Past, before: usize) -> Vec<Received> {
        let came = self.upstream.received().into_iter().skip(before);
        past.requests.iter().cloned().chain(came).collect()
    }

    fn outside(&self, past: &Past, id: &str, before: usize) -> Outside {
        let rows = effects(&past.data().join("databases/probe/default/main.db"));
        assert!(rows.iter().all(|effect| effect.key == id), "{}: there is one action", past.story);
        let requests = self.requests(past, before);
        check_keys(self.write, &requests, id, &past.story);
        Outside { rows, requests: requests.len() }
    }
}

fn confirm(api: &Api, id: &str, body: &str) -> io::Result<Answer> {
    api.ask(&api.post_of(&format!("/v1/actions/{id}/confirm"), &[], body.as_bytes()))
}

impl Past {
    /// Nothing yet.
    pub(super) fn none(write: Write) -> Self {
        Self { folder: Folder::new(), id: None, requests: Vec::new(), story: format!("{write:?}") }
    }

    /// The same once more, to go on from here in another way.
    pub(super) fn fork(&self) -> Self {
        let fork = Self {
            folder: Folder::new(),
            id: self.id.clone(),
            requests: self.requests.clone(),
            story: self.story.clone(),
        };
        folders::copy(&self.data(), &fork.data());
        fork
    }

    pub(super) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }
}
