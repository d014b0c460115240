/* A person's verdict on an answer: right, or wrong with a reason. The service keeps it with the run. */

import { $, make, press } from "./dom.js";
import { post, refusal, sentence } from "./api.js";
import { say } from "./speech.js";

const LONGEST = 2000, WORDS = { right: "judged_right", wrong: "judged_wrong" };

/* The buttons in `box`, and below it the reason. `given`: the verdict that the run already has; `complain` hears a failure. */
export function offerVerdict(runId, given, box, complain) {
  const buttons = new Map(), form = make("form", "", null, "row feedback"), reason = make("input", "", form, "grow");
  box.after(form);
  form.hidden = true;
  const show = verdict => buttons.forEach((button, name) => button.setAttribute("aria-pressed", String(name === verdict)));
  const send = async (verdict, note) => {
    try {
      const response = await post(`/v1/runs/${encodeURIComponent(runId)}/verdict`, { verdict, note });
      if (!response.ok) throw await refusal(response);
    } catch (error) { return complain(sentence(error)); }
    show(verdict);
    say($("status"), "noted");
  };
  for (const [name, key] of Object.entries(WORDS)) {
    const button = press("", box, "quiet", () => {
      form.hidden = name !== "wrong";
      send(name, "");
    });
    buttons.set(name, say(button, key));
  }
  say(say(reason, "reason", {}, "placeholder"), "reason", {}, "aria-label");
  reason.maxLength = LONGEST;
  reason.dir = "auto";
  say(make("button", "", form, "quiet"), "send");
  form.addEventListener("submit", async event => {
    event.preventDefault();
    await send("wrong", reason.value.trim());
    form.hidden = true;
  });
  show(given);
}
