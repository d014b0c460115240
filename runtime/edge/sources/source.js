"use strict";
/* Where a key is needed: with the one that the main page keeps in this tab, or one that is typed in, get an address with a ticket. */
const form = document.getElementById("form"), field = document.getElementById("key"), refused = document.getElementById("refused");
const place = new URLSearchParams(location.search);

function kept(value) {
  try { if (value) sessionStorage.setItem("key", value); return sessionStorage.getItem("key") || ""; } catch (blocked) { return ""; }
}

async function open(key) {
  const query = new URLSearchParams([...place].filter(([name]) => name === "start" || name === "end"));
  const response = await fetch(`/v1${location.pathname}/link?${query}`, { method: "POST", headers: { Authorization: `Bearer ${key}` } });
  if (response.status === 401 || response.status === 403) return false;
  if (!response.ok) return response.status !== 404;
  kept(key);
  const { url } = await response.json();
  const next = new URL(url, location.origin);
  for (const [name, value] of place) if (!next.searchParams.has(name) && name !== "ticket") next.searchParams.set(name, value);
  location.replace(next.pathname + next.search + (location.hash || ""));
  return true;
}

function ask(complain) { form.hidden = false; refused.hidden = !complain; if (complain) field.select(); else field.focus(); }

form.addEventListener("submit", async event => {
  event.preventDefault();
  if (!await open(field.value.trim())) ask(true);
});

const key = kept();
if (key) open(key).then(done => { if (!done) ask(true); }); else ask(false);
