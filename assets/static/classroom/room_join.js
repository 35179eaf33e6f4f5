// The way into a room: open one for a class, or join one by its code.

import { isValid, read } from "./room_code.js";
import { openRoom, takeSeat, Told } from "./room_client.js";
import { element } from "../components/slider.js";
import { filled } from "../components/format.js";

export default function ({ data: { words }, parentElement, setTriggerValue }) {
  const host = parentElement.querySelector(".seqviz-door");
  host.replaceChildren();
  const attempt = async (action) => {
    said.textContent = "";
    try {
      setTriggerValue("entered", await action());
    } catch ({ problem, details }) {
      said.textContent = filled(words[`problem_${problem}`] ?? words.lost, details ?? {});
    }
  };
  element("p", host, { textContent: words.join_help });
  const form = element("form", host);
  const typed = element("input", form, { maxLength: 16, autocomplete: "off", spellcheck: false });
  typed.setAttribute("aria-label", words.code);
  typed.placeholder = words.code;
  element("button", form, { textContent: words.join });
  form.onsubmit = (event) => {
    event.preventDefault();
    attempt(async () => {
      const code = read(typed.value);
      if (!isValid(code)) throw new Told(400, { problem: "mistyped" }); // no guess: nobody is asked
      await takeSeat(code);
      return code;
    });
  };
  element("p", host, { textContent: words.open_help });
  element("button", host, { type: "button", textContent: words.open, onclick: () => attempt(openRoom) });
  const said = element("p", host, { className: "said", role: "status" });
}
