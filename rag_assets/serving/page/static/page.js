// Makes the page quicker: results as one types, answers as they are written, keys. Nothing here is needed.
"use strict";
const one = (selector) => document.querySelector(selector);
const inputs = "input:not([type=hidden]), textarea, select";

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest(inputs);
  if (event.key === "/" && !typing) {
    event.preventDefault();
    const box = one("form[id] input[type=search]");
    if (box) { box.focus(); box.select(); } else location.href = "/";
  }
  const hits = [...document.querySelectorAll(".to-hit")];
  const at = hits.indexOf(document.activeElement);
  const down = event.key === "ArrowDown" && (at >= 0 || (typing && typing.name === "q"));
  const step = (event.key === "j" && !typing) || down ? 1 : (event.key === "k" && !typing) || (event.key === "ArrowUp" && at >= 0) ? -1 : 0;
  if (!step || !hits.length) return;
  event.preventDefault();
  if (at + step < 0) one("#search [name=q]").focus();
  else hits[Math.min(at + step, hits.length - 1)].focus();
});

const search = one("#search");
if (search) {
  const box = search.elements.q;
  let waiting = 0, asked = null;
  const refresh = async () => {
    if (asked) asked.abort();
    asked = new AbortController();
    const said = new URLSearchParams([...new FormData(search)].filter(([, value]) => value));
    try {
      const answer = await fetch("/?" + said, { signal: asked.signal, headers: { accept: "text/html" } });
      const found = new DOMParser().parseFromString(await answer.text(), "text/html");
      const results = found.querySelector("#results");
      if (!answer.ok || !results) return;
      one("#results").replaceWith(document.adoptNode(results));
      search.classList.toggle("first", !box.value.trim());
      one("#search h1").classList.toggle("hidden", Boolean(box.value.trim()));
      document.title = found.title;
      history.replaceState(null, "", "/" + (String(said) && "?" + said));
    } catch (error) { if (error.name !== "AbortError") throw error; }
  };
  box.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(refresh, 250); });
  search.addEventListener("submit", () => { clearTimeout(waiting); if (asked) asked.abort(); });
  if (search.elements.label) search.elements.label.addEventListener("change", () => search.requestSubmit());
}

const place = one("#answer");
if (place) {
  let stream = null;
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("#ask, .follow")) return;
    event.preventDefault();
    if (stream) stream.close();
    const said = new URLSearchParams(new FormData(event.target));
    const address = new URLSearchParams([...said].filter(([name, value]) => value && name !== "session"));
    const writing = document.createElement("p");
    writing.className = "writing";
    writing.textContent = "Reading the index …";
    place.replaceChildren(writing);
    place.setAttribute("aria-busy", "true");
    one("#ask").classList.remove("first");
    one("#ask h1").classList.add("hidden");
    one("#ask [name=q]").value = said.get("q");
    history.pushState(null, "", "/ask?" + address);
    let text = "";
    stream = new EventSource("/ask/stream?" + said);
    stream.addEventListener("text", (sent) => { text += JSON.parse(sent.data).text; writing.textContent = "Not checked yet:\n" + text; });
    stream.addEventListener("answer", (sent) => {
      stream.close();
      const made = new DOMParser().parseFromString(JSON.parse(sent.data).html, "text/html");
      place.replaceChildren(...made.body.childNodes);
      place.removeAttribute("aria-busy");
      document.title = said.get("q") + " · rag-assets";
    });
    stream.addEventListener("error", (sent) => {
      stream.close();
      if (!sent.data) { location.href = "/ask?" + said; return; } // no stream, so the page says why
      writing.className = "warning";
      writing.textContent = JSON.parse(sent.data).message;
      place.removeAttribute("aria-busy");
    });
  });
  addEventListener("popstate", () => location.reload());
}

const entry = one("figure .entry");
if (entry) {
  const figure = one("figure");
  figure.scrollLeft = entry.x.baseVal.value - (figure.clientWidth - entry.width.baseVal.value) / 2;
  figure.scrollTop = entry.y.baseVal.value - figure.clientHeight / 2;
}
const asked = one(".code .asked");
if (asked && !location.hash) asked.scrollIntoView({ block: "center" });
