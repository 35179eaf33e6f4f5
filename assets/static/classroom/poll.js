// A question that a class votes on: twice if the teacher likes, and hidden until it is revealed.

import { InRoom, presses } from "./room_client.js";
import { element } from "../components/slider.js";
import { filled, percent } from "../components/format.js";

// Wilson's interval for a share, 95%, as compute/proportions.py has it.
export function wilson(count, of) {
  const z = 1.959963984540054;
  if (of === 0) return [0, 1];
  const share = count / of, half = z * Math.sqrt((share * (1 - share)) / of + (z * z) / (4 * of * of));
  const middle = share + (z * z) / (2 * of), scale = 1 + (z * z) / of;
  return [Math.max(0, (middle - half) / scale), Math.min(1, (middle + half) / scale)];
}

class Vote extends InRoom {
  pressed = presses(this.host, () => this.draw(), this.leaving.signal);

  take(data) {
    this.data = data;
    this.drawn = "";
    this.find();
    this.draw();
  }

  draw() {
    const { room, data } = this;
    if (!room?.state || this.pressed()) return;
    const ballot = room.state.ballot?.key === data.key ? room.state.ballot : null;
    const own = ballot && room.state.answers?.vote;
    const told = JSON.stringify([ballot, own, room.teaches, ballot?.state === "revealed" || room.state.present]);
    if (told === this.drawn) return;
    this.drawn = told;
    const focused = document.activeElement?.dataset?.option;
    this.host.replaceChildren();
    this.options(ballot, own);
    this.below(ballot, own);
    if (focused !== undefined) this.host.querySelector(`[data-option="${focused}"]`)?.focus();
    if (ballot?.state === "revealed" && this.revealed !== ballot.round) {
      this.revealed = ballot.round;
      this.reveal(own ?? null);
    }
  }

  options(ballot, own) {
    const { room, data } = this;
    const list = element("ol", this.host);
    data.options.forEach((text, option) => {
      const item = element("li", list);
      if (room.teaches) element("div", item, { className: "option", textContent: text });
      else this.button(item, { ballot, own, text, option });
      if (ballot?.state === "revealed") this.bars(item, ballot, option);
    });
  }

  button(item, { ballot, own, text, option }) {
    const { room, data } = this;
    const button = element("button", item, { type: "button", className: "option", textContent: text });
    button.dataset.option = option;
    button.disabled = ballot?.state !== "open";
    button.setAttribute("aria-pressed", String(own === option));
    button.onclick = () => room.vote(ballot.number, ballot.round, option).catch((refusal) => this.say(refusal));
  }

  bars(item, { counts }, option) {
    counts.forEach((votes, at) => {
      const all = votes.reduce((sum, one) => sum + one, 0), [low, high] = wilson(votes[option], all);
      const bar = element("div", item, { className: `bar ${at < counts.length - 1 ? "first" : ""}` });
      element("i", bar).style.width = `${all ? (100 * votes[option]) / all : 0}%`;
      Object.assign(element("b", bar).style, { left: `${100 * low}%`, width: `${100 * (high - low)}%` });
      const share = percent(all ? votes[option] / all : NaN);
      const words = filled(this.data.words.share, {
        round: at + 1, count: votes[option], of: all, share, low: percent(low), high: percent(high) });
      element("div", item, { className: "share", textContent: words });
    });
  }

  below(ballot, own) {
    const { room, data: { key, options, words } } = this;
    const row = element("div", this.host, { className: "row" });
    const note = (text) => element("span", row, { textContent: text });
    const press = (text, said) =>
      element("button", row, { type: "button", textContent: text, onclick: () => room.say(said).catch((refusal) => this.say(refusal)) });
    const voted = ballot && filled(words.voted, { voted: ballot.voted, present: Math.max(room.state.present, ballot.voted) });
    if (ballot?.state === "revealed") this.flow(ballot);
    if (!room.teaches) {
      if (!ballot) note(words.waiting);
      else if (ballot.state === "closed") note(ballot.round === 1 ? words.talk : words.closed);
      else if (ballot.state === "open") note((own ?? null) === null ? filled(words.now, { round: ballot.round }) : words.yours);
      return;
    }
    if (!ballot || ballot.state === "revealed") press(ballot ? words.once_more : words.put, { kind: "ask", key, options: options.length });
    else if (ballot.state === "open") {
      note(`${filled(words.round, { round: ballot.round })}: ${voted}`);
      press(words.close, { kind: "close" });
    } else {
      note(`${filled(words.round, { round: ballot.round })}: ${voted}`);
      if (ballot.round === 1) press(words.again, { kind: "reopen" });
      press(words.reveal, { kind: "reveal" });
    }
  }

  // From each answer of the first round (row) to each of the second (column).
  flow({ flow }) {
    if (!flow) return;
    const { words } = this.data;
    element("div", this.host, { textContent: words.flow });
    const table = element("table", this.host);
    const head = element("tr", table);
    element("th", head);
    flow.forEach((_, to) => element("th", head, { textContent: `→ ${to + 1}` }));
    flow.forEach((row, from) => {
      const line = element("tr", table);
      element("th", line, { textContent: from + 1 });
      row.forEach((count, to) => element("td", line, { textContent: count, className: from === to ? "same" : "" }));
    });
  }

  say({ problem, details }) {
    const { words } = this.data;
    element("span", this.host, { textContent: filled(words[`problem_${problem}`] ?? words.lost, details ?? {}) });
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const host = parentElement.querySelector(".seqviz-ballot");
  host.vote ??= new Vote(host);
  host.vote.reveal = (own) => setTriggerValue("revealed", { own, at: Date.now() });
  host.vote.take(data);
  return () => {
    host.vote?.close();
    delete host.vote;
  };
}
