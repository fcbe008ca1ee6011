// What changes while somebody looks. Without this the pages are the same, and show what
// is new when they are loaded again.
"use strict";

const said = document.getElementById("live");
let looking = false;
let lookAgain = false;

// The stream says that something happened, never what: the page itself is fetched anew.
// Its first word is "look", each time that it begins, so that nothing is missed between.
const stream = new EventSource("/inbox/events");
stream.addEventListener("look", () => look());
stream.addEventListener("changed", (event) => {
  const about = document.querySelector("main").dataset.action;
  if (!about || about === event.data.split(" ")[0]) look();
});
stream.addEventListener("open", () => say("Live"));
stream.addEventListener("error", () => {
  say("Not live at the moment");
  // Refused for good, perhaps because nobody is signed in any more: looking will tell.
  if (stream.readyState === EventSource.CLOSED) setTimeout(look, 5000);
});

// "5 minutes ago" grows old by itself.
setInterval(() => document.visibilityState === "visible" && look(), 60000);

async function look() {
  lookAgain = true;
  if (looking) return;
  looking = true;
  try {
    while (lookAgain) {
      lookAgain = false;
      const response = await fetch(location.href, { credentials: "same-origin", cache: "no-store" });
      if (response.redirected && new URL(response.url).pathname === "/inbox/sign-in") {
        location.assign(response.url);
        return;
      }
      if (response.ok) show(new DOMParser().parseFromString(await response.text(), "text/html"));
    }
  } catch {
    // Whoever is away is looked for again when the stream is back.
  } finally {
    looking = false;
  }
}

function show(fresh) {
  const before = document.querySelector("main");
  const after = fresh.querySelector("main");
  if (!after) return;
  const asOf = () => document.getElementById("as-of").replaceWith(document.adoptNode(fresh.getElementById("as-of")));
  if (before.dataset.stands === after.dataset.stands) {
    // Nothing happened, and nothing moves but the time.
    const ages = after.querySelectorAll(".age");
    before.querySelectorAll(".age").forEach((age, index) => (age.textContent = ages[index]?.textContent ?? ""));
    asOf();
    return;
  }
  const focus = document.activeElement;
  const inForm = before.contains(focus) && focus.closest("form");
  const written = [...before.querySelectorAll("textarea")].some((field) => field.value !== field.defaultValue);
  if (inForm || written) {
    // Nothing moves under somebody's hands.
    say(after.dataset.says, "Load the page again to see it.");
    return;
  }
  const place = before.contains(focus) && focus.id;
  before.replaceWith(document.adoptNode(after));
  document.title = fresh.title;
  asOf();
  if (place) document.getElementById(place)?.focus({ preventScroll: true });
  say(after.dataset.says);
}

// What a person should act on stands out, with a link to where it leads.
function say(text, act) {
  if (said.dataset.text === text) return;
  said.dataset.text = text;
  said.classList.toggle("news", Boolean(act));
  said.textContent = act ? `${text} ` : text;
  if (!act) return;
  const link = document.createElement("a");
  link.href = location.href;
  link.textContent = act;
  said.append(link);
}
