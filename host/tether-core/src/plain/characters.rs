//! Which characters show nothing, and which are emoji. The ranges are those of Unicode 16,
//! from `DerivedCoreProperties.txt` and `emoji-data.txt` of its character database. What a later
//! version makes an emoji is none here: a joiner beside it is spelled out, and nothing is hidden.

/// Characters that show nothing or turn the direction of writing: they could make a text look
/// like another. Blanks that have a width and count as white space are none of them.
pub fn is_hidden(character: char) -> bool {
    character.is_control() || is_ignorable(character) || is_empty(character)
}

/// `Default_Ignorable_Code_Point`: what is not drawn where it is not understood. Among them are
/// all controls of direction, joiners, variation selectors, tags and fillers.
fn is_ignorable(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// What draws nothing though it is no space: ends of lines and paragraphs, the Braille pattern
/// without dots, interlinear anchors, the place of an object, the Khitan filler, Egyptian
/// controls and blanks, and the note without a head.
fn is_empty(character: char) -> bool {
    matches!(character,
        '\u{2028}'..='\u{2029}' | '\u{2800}' | '\u{fff9}'..='\u{fffc}' | '\u{16fe4}'
        | '\u{13430}'..='\u{13442}' | '\u{1d159}')
}

/// `Emoji`, without digits, `#` and `*`, the letters of flags and the colours of skin.
pub(super) fn is_emoji(character: char) -> bool {
    matches!(character,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2194}'..='\u{2199}' | '\u{21a9}'..='\u{21aa}' | '\u{231a}'..='\u{231b}' | '\u{2328}'
        | '\u{23cf}' | '\u{23e9}'..='\u{23f3}' | '\u{23f8}'..='\u{23fa}' | '\u{24c2}'
        | '\u{25aa}'..='\u{25ab}' | '\u{25b6}' | '\u{25c0}' | '\u{25fb}'..='\u{25fe}'
        | '\u{2600}'..='\u{2604}' | '\u{260e}' | '\u{2611}' | '\u{2614}'..='\u{2615}' | '\u{2618}'
        | '\u{261d}' | '\u{2620}' | '\u{2622}'..='\u{2623}' | '\u{2626}' | '\u{262a}'
        | '\u{262e}'..='\u{262f}' | '\u{2638}'..='\u{263a}' | '\u{2640}' | '\u{2642}'
        | '\u{2648}'..='\u{2653}' | '\u{265f}'..='\u{2660}' | '\u{2663}' | '\u{2665}'..='\u{2666}'
        | '\u{2668}' | '\u{267b}' | '\u{267e}'..='\u{267f}' | '\u{2692}'..='\u{2697}' | '\u{2699}'
        | '\u{269b}'..='\u{269c}' | '\u{26a0}'..='\u{26a1}' | '\u{26a7}' | '\u{26aa}'..='\u{26ab}'
        | '\u{26b0}'..='\u{26b1}' | '\u{26bd}'..='\u{26be}' | '\u{26c4}'..='\u{26c5}' | '\u{26c8}'
        | '\u{26ce}'..='\u{26cf}' | '\u{26d1}' | '\u{26d3}'..='\u{26d4}' | '\u{26e9}'..='\u{26ea}'
        | '\u{26f0}'..='\u{26f5}' | '\u{26f7}'..='\u{26fa}' | '\u{26fd}' | '\u{2702}' | '\u{2705}'
        | '\u{2708}'..='\u{270d}' | '\u{270f}' | '\u{2712}' | '\u{2714}' | '\u{2716}' | '\u{271d}'
        | '\u{2721}' | '\u{2728}' | '\u{2733}'..='\u{2734}' | '\u{2744}' | '\u{2747}' | '\u{274c}'
        | '\u{274e}' | '\u{2753}'..='\u{2755}' | '\u{2757}' | '\u{2763}'..='\u{2764}'
        | '\u{2795}'..='\u{2797}' | '\u{27a1}' | '\u{27b0}' | '\u{27bf}' | '\u{2934}'..='\u{2935}'
        | '\u{2b05}'..='\u{2b07}' | '\u{2b1b}'..='\u{2b1c}' | '\u{2b50}' | '\u{2b55}' | '\u{3030}'
        | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f004}' | '\u{1f0cf}' | '\u{1f170}'..='\u{1f171}'
        | '\u{1f17e}'..='\u{1f17f}' | '\u{1f18e}' | '\u{1f191}'..='\u{1f19a}'
        | '\u{1f201}'..='\u{1f202}' | '\u{1f21a}' | '\u{1f22f}' | '\u{1f232}'..='\u{1f23a}'
        | '\u{1f250}'..='\u{1f251}' | '\u{1f300}'..='\u{1f321}' | '\u{1f324}'..='\u{1f393}'
        | '\u{1f396}'..='\u{1f397}' | '\u{1f399}'..='\u{1f39b}' | '\u{1f39e}'..='\u{1f3f0}'
        | '\u{1f3f3}'..='\u{1f3f5}' | '\u{1f3f7}'..='\u{1f3fa}' | '\u{1f400}'..='\u{1f4fd}'
        | '\u{1f4ff}'..='\u{1f53d}' | '\u{1f549}'..='\u{1f54e}' | '\u{1f550}'..='\u{1f567}'
        | '\u{1f56f}'..='\u{1f570}' | '\u{1f573}'..='\u{1f57a}' | '\u{1f587}'
        | '\u{1f58a}'..='\u{1f58d}' | '\u{1f590}' | '\u{1f595}'..='\u{1f596}'
        | '\u{1f5a4}'..='\u{1f5a5}' | '\u{1f5a8}' | '\u{1f5b1}'..='\u{1f5b2}' | '\u{1f5bc}'
        | '\u{1f5c2}'..='\u{1f5c4}' | '\u{1f5d1}'..='\u{1f5d3}' | '\u{1f5dc}'..='\u{1f5de}'
        | '\u{1f5e1}' | '\u{1f5e3}' | '\u{1f5e8}' | '\u{1f5ef}' | '\u{1f5f3}'
        | '\u{1f5fa}'..='\u{1f64f}' | '\u{1f680}'..='\u{1f6c5}' | '\u{1f6cb}'..='\u{1f6d2}'
        | '\u{1f6d5}'..='\u{1f6d7}' | '\u{1f6dc}'..='\u{1f6e5}' | '\u{1f6e9}'
        | '\u{1f6eb}'..='\u{1f6ec}' | '\u{1f6f0}' | '\u{1f6f3}'..='\u{1f6fc}'
        | '\u{1f7e0}'..='\u{1f7eb}' | '\u{1f7f0}' | '\u{1f90c}'..='\u{1f93a}'
        | '\u{1f93c}'..='\u{1f945}' | '\u{1f947}'..='\u{1f9ff}' | '\u{1fa70}'..='\u{1fa7c}'
        | '\u{1fa80}'..='\u{1fa89}' | '\u{1fa8f}'..='\u{1fac6}' | '\u{1face}'..='\u{1fadc}'
        | '\u{1fadf}'..='\u{1fae9}' | '\u{1faf0}'..='\u{1faf8}')
}

/// `Emoji_Modifier`: the colours of skin.
pub(super) fn is_skin(character: char) -> bool {
    matches!(character, '\u{1f3fb}'..='\u{1f3ff}')
}
