// A memory in a dozen lines of JavaScript: keeps every turn, recalls those that share a word with the query.

import { createInterface } from "node:readline";

const turns = [];
const words = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);
for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  let answer = {};
  if (asked.op === "write") turns.push(...asked.turns);
  else if (asked.op === "read") {
    const found = turns.filter((turn) => words(turn.text).some((word) => words(asked.query).includes(word)));
    answer = { items: found.map((turn) => ({ text: turn.line, turns: [turn.id] })) };
  } else if (asked.op === "footprint") answer = { texts: turns.map((turn) => turn.line) };
  process.stdout.write(JSON.stringify({ id: asked.id, ok: answer }) + "\n");
}
