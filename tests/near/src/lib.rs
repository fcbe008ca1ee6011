//! Texts for tests of parsers: known ones, changed in a few places, and others that
//! nobody thought of. A parser of foreign input must survive them all.

pub use proptest;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// A change of one place of a text.
#[derive(Debug, Clone)]
enum Edit {
    Insert(char),
    Replace(char),
    Remove,
    /// Cuts everything from here on.
    Cut,
    /// Says everything from here on twice.
    Repeat,
}

/// A text of `corpus` with up to six changes, or (one in eight) any text at all.
pub fn near(corpus: &'static [&'static str]) -> impl Strategy<Value = String> {
    let known = select(corpus).prop_map(str::to_owned);
    let edits = prop::collection::vec((any::<Index>(), edit(corpus)), 0..6);
    let changed = (known, edits).prop_map(|(text, edits)| edits.into_iter().fold(text, change));
    prop_oneof![7 => changed, 1 => any::<String>()]
}

/// Characters are taken from the corpus as often as from everywhere: what the
/// parser knows is where it goes wrong.
fn edit(corpus: &'static [&'static str]) -> impl Strategy<Value = Edit> {
    let letters: Vec<char> = corpus.iter().flat_map(|text| text.chars()).collect();
    let character = prop_oneof![select(letters), any::<char>()].boxed();
    prop_oneof![
        3 => character.clone().prop_map(Edit::Insert),
        3 => character.prop_map(Edit::Replace),
        2 => Just(Edit::Remove),
        1 => Just(Edit::Cut),
        1 => Just(Edit::Repeat),
    ]
}

fn change(text: String, (place, edit): (Index, Edit)) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    let place = place.index(characters.len() + 1);
    match edit {
        Edit::Insert(character) => characters.insert(place, character),
        Edit::Replace(character) => {
            if let Some(old) = characters.get_mut(place) {
                *old = character;
            }
        }
        Edit::Remove => {
            if place < characters.len() {
                characters.remove(place);
            }
        }
        Edit::Cut => characters.truncate(place),
        Edit::Repeat => characters.extend_from_within(place..),
    }
    characters.into_iter().collect()
}
