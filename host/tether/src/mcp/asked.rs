//! What clients were asked to put before a person, and how they come back with it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tether_core::id::ActionId;

use super::splice::nonce;

/// The actions about which a person was asked through a client: nobody is asked twice, so
/// that no client goes round in circles. Kept for a while only.
#[derive(Debug, Default)]
pub(super) struct Asked(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    actions: HashMap<ActionId, Option<Form>>,
    order: VecDeque<ActionId>,
}

/// A form that was given to a client.
#[derive(Debug)]
struct Form {
    /// What whoever answers it has from it, and nobody else.
    nonce: String,
    /// The attempts that were used.
    attempts: u32,
}

/// How many are kept.
const KEPT: usize = 4_096;

impl Asked {
    /// Notes that it was asked; true where it was not before.
    pub(super) fn note(&self, id: ActionId) -> bool {
        let mut kept = self.kept();
        if kept.actions.contains_key(&id) {
            return false;
        }
        kept.actions.insert(id, None);
        kept.order.push_back(id);
        if kept.order.len() > KEPT
            && let Some(oldest) = kept.order.pop_front()
        {
            kept.actions.remove(&oldest);
        }
        true
    }

    /// Whether it was noted.
    pub(super) fn was(&self, id: ActionId) -> bool {
        self.kept().actions.contains_key(&id)
    }

    /// A form about it is given, with so many attempts used; its nonce.
    pub(super) fn give(&self, id: ActionId, attempts: u32) -> String {
        let nonce = nonce();
        if let Some(form) = self.kept().actions.get_mut(&id) {
            *form = Some(Form { nonce: nonce.clone(), attempts });
        }
        nonce
    }

    /// The attempts that the form with this nonce was about; none where no such was given.
    pub(super) fn given(&self, id: ActionId, nonce: &str) -> Option<u32> {
        let kept = self.kept();
        let form = kept.actions.get(&id)?.as_ref()?;
        (form.nonce == nonce).then_some(form.attempts)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a client repeats a call with: which action it is about, and for a form, which one
/// that was. A page's is no secret, and whoever makes one up gets no further than with
/// `tether_actions`; a form's cannot be made up.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Resumed {
    ByPage(ActionId),
    ByForm(ActionId, String),
}

impl Resumed {
    /// What `state` is; none where it is none of ours.
    pub(super) fn read(state: &str) -> Option<Self> {
        if let Some(id) = state.strip_prefix("page:") {
            return id.parse().ok().map(Self::ByPage);
        }
        let (id, nonce) = state.strip_prefix("form:")?.split_once(':')?;
        Some(Self::ByForm(id.parse().ok()?, nonce.to_owned()))
    }

    /// The action.
    pub(super) fn id(&self) -> ActionId {
        match self {
            Self::ByPage(id) | Self::ByForm(id, _) => *id,
        }
    }

    /// The `requestState`.
    pub(super) fn written(&self) -> String {
        match self {
            Self::ByPage(id) => format!("page:{id}"),
            Self::ByForm(id, nonce) => format!("form:{id}:{nonce}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_survives_its_text_and_other_texts_are_none() {
        let id: ActionId = "9c1e7b6a0f5d4c3b8a7e6d5c4b3a2918".parse().unwrap();
        for state in [Resumed::ByPage(id), Resumed::ByForm(id, "a:b".into())] {
            assert_eq!(Resumed::read(&state.written()).as_ref(), Some(&state));
        }
        for text in ["", "page:", "page:x", &format!("form:{id}"), &format!("{id}")] {
            assert_eq!(Resumed::read(text), None, "{text}");
        }
    }

    #[test]
    fn nobody_is_asked_twice_for_as_long_as_it_is_kept() {
        let asked = Asked::default();
        let id = |number: usize| ActionId::from_random((number as u128).to_be_bytes());
        assert!(asked.note(id(0)) && !asked.note(id(0)) && asked.was(id(0)) && !asked.was(id(1)));
        (1..=KEPT).for_each(|number| assert!(asked.note(id(number))));
        assert!(!asked.was(id(0)) && asked.was(id(1)));
    }
}
