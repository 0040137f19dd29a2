"use strict";
// One comparison: how its images are shown, and a decision about it.
const $ = (id) => document.getElementById(id);
const modes = ["sides", "slider", "diff", "blink"];
let timer = 0;

function show(mode) {
  for (const one of modes) $(one).hidden = one !== mode;
  document.querySelector(`input[value="${mode}"]`).checked = true;
  clearInterval(timer);
  if (mode === "blink") {
    const top = $("blink-top");
    timer = setInterval(() => { top.hidden = !top.hidden; }, 700);
  }
}

function slide(percent) {
  const value = Math.max(0, Math.min(100, percent));
  $("slide").value = String(value);
  $("slide-top").style.clipPath = `inset(0 0 0 ${value}%)`;
}

async function decide(verb) {
  const key = $("key").value.trim();
  const result = $("result");
  if (!key) {
    result.textContent = "Enter an API key first.";
    $("key").focus();
    return;
  }
  const reason = $("reason").value.trim();
  result.textContent = "…";
  try {
    const response = await fetch(`/api/v1/comparisons/${$("decide").dataset.id}/${verb}`, {
      method: "POST",
      headers: { "Authorization": `Bearer ${key}`, "Content-Type": "application/json" },
      body: JSON.stringify(reason ? { reason } : {}),
    });
    const body = await response.json();
    if (!response.ok) throw new Error(body.error.message);
    $("status").textContent = body.status.replace("_", " ");
    result.textContent = `The comparison is ${body.status}.`;
    $("buttons").hidden = true;
  } catch (error) {
    result.textContent = `Failed: ${error.message}`;
  }
}

for (const radio of document.querySelectorAll("input[name=mode]")) {
  radio.addEventListener("change", () => show(radio.value));
}
$("slide").addEventListener("input", () => slide(Number($("slide").value)));
if ($("decide")) {
  $("approve").addEventListener("click", () => decide("approve"));
  $("reject").addEventListener("click", () => decide("reject"));
}
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input:not([type=radio]):not([type=range])")) return;
  const mode = modes[Number(event.key) - 1];
  if (mode) show(mode);
  else if (event.key === "a" && $("decide")) decide("approve");
  else if (event.key === "r" && $("decide")) decide("reject");
  else if (event.key === "b") $("regions").toggleAttribute("hidden");
  else if (!$("slider").hidden && event.target.id !== "slide" && event.key === "ArrowLeft") {
    slide(Number($("slide").value) - 5);
  } else if (!$("slider").hidden && event.target.id !== "slide" && event.key === "ArrowRight") {
    slide(Number($("slide").value) + 5);
  } else return;
  event.preventDefault();
});
$("modes").hidden = false;
slide(50);
