// The sidecar protocol for a memory written in JavaScript: `serve(memory)` and nothing else.
//
// Copies of this file may be taken along; it needs only Node. See docs/sidecar.md.

import { Console } from "node:console";
import { createInterface } from "node:readline";

const GRACE_MS = 5000; // left to a memory at work when nobody wants its answer any more

/**
 * Answers requests with the methods of `memory` that are named like the operations, until told to close.
 *
 * A method gets the request's other fields as one object and returns the fields of the reply, or a promise of them
 * (nothing: none). What it throws is sent as the error of the request. An operation that `memory` has no method for
 * succeeds and does nothing. Whatever prints, prints to stderr from here on: stdout belongs to the protocol.
 */
export async function serve(memory) {
  const reply = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  globalThis.console = new Console(process.stderr);
  const requests = createInterface({ input: process.stdin });
  process.stdin.once("end", () => setTimeout(() => process.exit(1), GRACE_MS).unref());
  for await (const line of requests) {
    const { id, op, ...fields } = JSON.parse(line);
    const answer = JSON.stringify({ id, ...(await answered(memory, op, fields)) });
    await new Promise((sent) => reply(`${answer}\n`, sent));
    if (op === "close") process.exit(0);
  }
  await answered(memory, "close", {});
  process.exit(0);
}

async function answered(memory, op, fields) {
  if (typeof memory[op] !== "function") return { ok: {} };
  try {
    return { ok: (await memory[op](fields)) ?? {} };
  } catch (fault) {
    console.error(fault);
    return { error: `${fault?.name ?? "Error"}: ${fault?.message ?? fault}` };
  }
}
