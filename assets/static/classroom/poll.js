// Poll of a class: one or two rounds of votes, hidden until they are revealed.

import { RoomComponent, trackPress } from "./room_client.js";
import { createElement } from "../components/slider.js";
import { interpolate, percent } from "../components/format.js";

const MIN_VOTES = 6; // with fewer, an interval covers nearly every share

// Wilson's 95% interval of a proportion, as in seqviz/stats/estimate.py.
export function wilson(count, of) {
  const z = 1.959963984540054;
  if (of === 0) return [0, 1];
  const share = count / of, half = z * Math.sqrt((share * (1 - share)) / of + (z * z) / (4 * of * of));
  const middle = share + (z * z) / (2 * of), scale = 1 + (z * z) / of;
  return [Math.max(0, (middle - half) / scale), Math.min(1, (middle + half) / scale)];
}

class Poll extends RoomComponent {
  isPressed = trackPress(this.host, () => this.render(), this.controller.signal);

  update(data) {
    this.data = data;
    this.renderedJson = "";
    this.findRoom();
    this.render();
  }

  render() {
    const { room, data } = this;
    if (!room?.state || this.isPressed()) return;
    const current = room.state.ballot?.key === data.key ? room.state.ballot : null;
    // Revealed now, or before the question that is open now: then its result stays.
    const isRevealed = (current ? current.state === "revealed" : room.state.revealed.includes(data.key));
    if (current) this.result = isRevealed ? { poll: current, ownVote: room.state.answers?.vote } : null;
    const poll = current ?? (isRevealed ? this.result?.poll : null) ?? null;
    const ownVote = current ? room.state.answers?.vote : poll && this.result.ownVote;
    const json = JSON.stringify([poll, ownVote, room.isTeacher, isRevealed || room.state.present]);
    if (json === this.renderedJson) return;
    this.renderedJson = json;
    const focused = document.activeElement?.dataset?.option;
    this.host.replaceChildren();
    this.host.classList.toggle("revealed", isRevealed);
    this.renderOptions(poll, ownVote, isRevealed);
    this.renderBelow(poll, ownVote, isRevealed);
    if (focused !== undefined) this.host.querySelector(`[data-option="${focused}"]`)?.focus();
    if (isRevealed && this.revealedRound !== (poll?.round ?? 0)) {
      this.revealedRound = poll?.round ?? 0;
      this.onReveal(ownVote ?? null);
    }
  }

  renderOptions(poll, ownVote, isRevealed) {
    const { room, data } = this;
    const list = createElement("ol", this.host);
    data.options.forEach((text, option) => {
      const item = createElement("li", list);
      item.classList.toggle("right", isRevealed && option === data.right);
      if (room.isTeacher) createElement("div", item, { className: "option", textContent: text });
      else this.renderButton(item, { poll, ownVote, text, option });
      if (poll?.state === "revealed" && poll.voted > 0) this.renderBars(item, poll, option);
    });
  }

  renderButton(item, { poll, ownVote, text, option }) {
    const { room } = this;
    const button = createElement("button", item, { type: "button", className: "option", textContent: text });
    button.dataset.option = option;
    button.disabled = poll?.state !== "open";
    button.setAttribute("aria-pressed", String(ownVote === option));
    button.onclick = () => room.vote(poll.number, poll.round, option).catch((error) => this.showError(error));
  }

  // A line for each round: bar, count, and the interval unless it is for too few votes.
  renderBars(item, { counts }, option) {
    const { words } = this.data, host = createElement("div", item, { className: "votes" });
    counts.forEach((votes, index) => {
      const total = votes.reduce((sum, count) => sum + count, 0), [low, high] = wilson(votes[option], total);
      const bar = createElement("div", host, { className: `bar ${index < counts.length - 1 ? "first" : ""}` });
      createElement("i", bar).style.width = `${total ? (100 * votes[option]) / total : 0}%`;
      const share = percent(total ? votes[option] / total : NaN);
      const numbers = { round: index + 1, count: votes[option], of: total, share, low: percent(low), high: percent(high) };
      const line = createElement("div", host, { className: "share", textContent: interpolate(words.share, numbers) });
      if (total < MIN_VOTES) return;
      Object.assign(createElement("b", bar).style, { left: `${100 * low}%`, width: `${100 * (high - low)}%` });
      createElement("span", line, { className: "interval", textContent: interpolate(words.share_interval, numbers) });
    });
  }

  renderBelow(poll, ownVote, isRevealed) {
    const { room, data: { key, options, words } } = this;
    const row = createElement("div", this.host, { className: "row" });
    const addNote = (text) => createElement("span", row, { textContent: text });
    const send = async (messages) => {
      for (const message of messages) await room.send(message);
    };
    const addButton = (text, ...messages) =>
      createElement("button", row, { type: "button", textContent: text, onclick: () => send(messages).catch((error) => this.showError(error)) });
    const addNext = (...parts) => addButton(...parts).classList.add("next"); // which a clicker presses
    const voted = poll && interpolate(words.voted, { voted: poll.voted, present: Math.max(room.state.present, poll.voted) });
    if (poll?.state === "revealed" && poll.voted === 0) addNote(words.nobody);
    if (poll?.state === "revealed") this.renderFlow(poll);
    if (!room.isTeacher) {
      if (!poll && !isRevealed) addNote(words.waiting);
      else if (!poll) return;
      else if (poll.state === "closed") addNote(poll.round === 1 ? words.talk : words.closed);
      else if (poll.state === "open") addNote((ownVote ?? null) === null ? interpolate(words.now, { round: poll.round }) : words.yours);
      return;
    }
    const ask = { kind: "ask", key, options: options.length };
    if (!poll || isRevealed) {
      if (isRevealed) addButton(words.once_more, ask);
      else addNext(words.put, ask);
      // Without a vote: a poll of no votes, so that whoever joins later finds it revealed as well.
      if (!isRevealed) addButton(words.answer, ask, { kind: "close" }, { kind: "reveal" });
    } else if (poll.state === "open") {
      addNote(`${interpolate(words.round, { round: poll.round })}: ${voted}`);
      addNext(words.close, { kind: "close" });
    } else {
      addNote(`${interpolate(words.round, { round: poll.round })}: ${voted}`);
      if (poll.round === 1) {
        addNote(words.talk); // the class reads it on the wall
        addButton(words.again, { kind: "reopen" });
      }
      addNext(words.reveal, { kind: "reveal" });
    }
  }

  // Transitions from each answer of the first round (row) to each of the second (column).
  renderFlow({ flow }) {
    if (!flow) return;
    const { words } = this.data, host = createElement("div", this.host, { className: "flow" });
    createElement("div", host, { textContent: words.flow });
    const table = createElement("table", host);
    const head = createElement("tr", table);
    createElement("th", head);
    flow.forEach((_, to) => createElement("th", head, { textContent: `→ ${to + 1}` }));
    flow.forEach((counts, from) => {
      const row = createElement("tr", table);
      createElement("th", row, { textContent: from + 1 });
      counts.forEach((count, to) => createElement("td", row, { textContent: count, className: from === to ? "same" : "" }));
    });
  }

  showError({ problem, details }) {
    const { words } = this.data;
    createElement("span", this.host, { textContent: interpolate(words[`problem_${problem}`] ?? words.lost, details ?? {}) });
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const host = parentElement.querySelector(".seqviz-poll");
  host.poll ??= new Poll(host);
  host.poll.onReveal = (ownVote) => setTriggerValue("reveal", { own: ownVote, at: Date.now() });
  host.poll.update(data);
  return () => {
    host.poll?.close();
    delete host.poll;
  };
}
