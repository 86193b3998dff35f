// Shows what contains every word of the search, and opens what the address names.
const input = document.querySelector("input");
const entries = [...document.querySelectorAll("details")].map((element) => ({
  element,
  text: element.querySelector("summary").textContent.toLowerCase(),
}));
const none = document.querySelector("#none");

function search() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  for (const { element, text } of entries) {
    element.hidden = !words.every((word) => text.includes(word));
    if (!element.hidden) found += 1;
  }
  for (const section of document.querySelectorAll("main section"))
    section.hidden = !section.querySelector("details:not([hidden])");
  none.hidden = found > 0;
}

function openNamed() {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (named?.tagName !== "DETAILS") return;
  named.open = true;
  named.scrollIntoView();
}

input.addEventListener("input", search);
addEventListener("hashchange", openNamed);
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target === input) return;
  event.preventDefault();
  input.focus();
});
openNamed();
