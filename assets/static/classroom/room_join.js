// Form that opens a room, or joins one by its code.

import { isValid, parseCode } from "./room_code.js";
import { openRoom, takeSeat, RoomError } from "./room_client.js";
import { createElement } from "../components/slider.js";
import { interpolate } from "../components/format.js";

export default function ({ data: { words }, parentElement, setTriggerValue }) {
  const host = parentElement.querySelector(".seqviz-room-join");
  host.replaceChildren();
  const run = async (action) => {
    message.textContent = "";
    try {
      setTriggerValue("join", await action());
    } catch ({ problem, details }) {
      message.textContent = interpolate(words[`problem_${problem}`] ?? words.lost, details ?? {});
    }
  };
  createElement("p", host, { textContent: words.join_help });
  const form = createElement("form", host);
  const codeInput = createElement("input", form, { maxLength: 16, autocomplete: "off", spellcheck: false });
  codeInput.setAttribute("aria-label", words.code);
  codeInput.placeholder = words.code;
  createElement("button", form, { textContent: words.join });
  form.onsubmit = (event) => {
    event.preventDefault();
    run(async () => {
      const code = parseCode(codeInput.value);
      if (!isValid(code)) throw new RoomError(400, { problem: "mistyped" }); // no guess: nobody is asked
      await takeSeat(code);
      return code;
    });
  };
  createElement("p", host, { textContent: words.open_help });
  createElement("button", host, { type: "button", textContent: words.open, onclick: () => run(openRoom) });
  const message = createElement("p", host, { className: "message", role: "status" });
}
