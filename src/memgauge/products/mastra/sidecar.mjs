// Mastra Observational Memory behind the sidecar protocol. Runs in the product's own environment, whose folder is the
// one argument. It is driven as an agent drives it, one turn of its own turn API per message, without the answer.

import { statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import { serve } from "../beside/memgauge_sidecar.mjs";

const require = createRequire(join(process.argv[2], "package.json"));
const { MessageList } = require("@mastra/core/agent");
const { LibSQLStore } = require("@mastra/libsql");
const { Memory } = require("@mastra/memory");

const HERE = { threadId: "dialogue", resourceId: "speakers" }; // one thread holds both sides of a dialogue
const ASSISTANTS = new Set(["assistant", "ai", "bot", "chatbot", "model", "system"]);
// Messages without a time get one: today's would make no two runs alike.
const UNTIMED_START = Date.UTC(2024, 0, 1);
const STEP_MS = 1000; // at least, between two messages: what is not later than the last one counts as observed
// Everything into one file. No store outlives its unit, so nothing is waited for until it has reached the disk.
const CHECKPOINT = "PRAGMA synchronous=OFF; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA synchronous=NORMAL";
const ENTRY = /^\s*(?:[-*]|\d+\.)\s/m;
const BOUNDARY = /\n{2,}--- message boundary \([^)]*\) ---\n{2,}/; // between the chunks of the log, as OM splits it
const CUT = /^[ \t]*<observations>(?![^]*^[ \t]*<\/observations>)/im;
const UNREADABLE = /^(?:Observer|Reflector) produced /; // how OM says that a reply was of no use, after its own retries

class ObservationalMemory {
  async open({ base_url, api_key, model, directory, options }) {
    this.options = options;
    this.file = join(directory, "memory.db");
    this.store = new LibSQLStore({ id: "store", url: `file:${this.file}` });
    // Observing is writing and reflecting is managing, whenever OM does it.
    const asked = (stage, temperature) => ({
      model: { id: `memgauge/${model}`, url: base_url, apiKey: `${api_key}~${stage}` },
      modelSettings: { temperature, maxOutputTokens: options.max_tokens },
    });
    this.memory = new Memory({
      storage: this.store,
      options: {
        observationalMemory: {
          scope: "thread",
          hooks: this.#hooks(),
          observation: {
            ...asked("write", 0.3),
            messageTokens: options.message_tokens,
            ...(options.mode === "sync" ? { bufferTokens: false } : {}),
          },
          reflection: { ...asked("manage", 0), observationTokens: options.observation_tokens },
        },
      },
    });
    this.om = await this.memory.omEngine;
    await this.store.init();
    if (options.reflection_cursor === "fixed") await keepCursor(this.store);
    this.lines = new Map(); // the turns written, as the harness writes them, by id
    this.tail = []; // ids of the turns that are recalled verbatim
    this.chunks = []; // of the log: the ids of the turns behind each
    this.observed = []; // what the observer and the reflector said: text, and the ids of the turns behind it
    this.lost = [];
    this.prose = undefined; // a reflection that holds no observation, before it takes effect
    this.failures = new Set();
    this.observations = 0;
    this.clock = 0;
    this.tailTokens = 0;
    this.busy = true; // whether OM may have something to do whatever comes next
    this.stepped = false;
  }

  async write({ turns }) {
    for (const turn of turns) {
      await this.#settled();
      await this.#add(turn);
    }
    return { lost: this.lost.splice(0) };
  }

  async settle() {
    await this.#settled();
    return { lost: this.lost.splice(0) };
  }

  /** The context that an agent would be given: preamble, log, hints and reminder, then what is not observed yet. */
  async read({ time }) {
    const currentDate = new Date(time ? moment(time) : this.clock || UNTIMED_START);
    const parts = (await this.om.buildContextSystemMessages({ ...HERE, currentDate })) ?? [];
    const start = parts.indexOf("<observations>") + 1;
    const items = parts.map((text, i) => ({ text, turns: (start && this.chunks[i - start]) || [] }));
    if (this.reminder) items.push({ text: this.reminder, turns: [] });
    return { items: [...items, ...this.tail.map((id) => ({ text: this.lines.get(id), turns: [id] }))] };
  }

  /** The store on disk, and the texts in it that can still be recalled. */
  async footprint() {
    await this.store.client.executeMultiple(CHECKPOINT);
    const chunks = bufferedChunks(this.record).map((chunk) => chunk.observations);
    const texts = [this.record?.activeObservations ?? "", this.record?.bufferedReflection ?? "", ...chunks];
    return { bytes: statSync(this.file).size, texts: [...texts, ...this.tail.map((id) => this.lines.get(id))] };
  }

  /** Tokens here are OM's own estimate, by which it decides what to do. */
  state() {
    const chunks = bufferedChunks(this.record);
    const sum = (name) => chunks.reduce((total, chunk) => total + (chunk[name] ?? 0), 0);
    return {
      state: {
        tail_turns: this.tail.length,
        tail_tokens: this.tailTokens,
        log_tokens: this.record?.observationTokenCount ?? 0,
        log_entries: (this.record?.activeObservations ?? "").split("\n").filter((line) => ENTRY.test(line)).length,
        generation: this.record?.generationCount ?? 0,
        buffered_chunks: chunks.length,
        buffered_turns: chunks.reduce((total, chunk) => total + chunk.messageIds.length, 0),
        buffered_tokens: sum("tokenCount"),
        buffered_reflection_tokens: this.record?.bufferedReflectionTokens ?? 0,
        observations: this.observations,
      },
    };
  }

  async close() {
    await this.store.close();
  }

  /** Adds a message: in a turn of OM's own, or where that would do nothing but store it, by storing it. */
  async #add(turn) {
    this.clock = Math.max(turn.time ? moment(turn.time) : UNTIMED_START, this.clock + STEP_MS);
    const message = asMessage(turn, new Date(this.clock));
    this.lines.set(turn.id, turn.line);
    this.tail.push(turn.id);
    this.tailTokens += this.#tokensOf(message);
    if (!this.#hasWork()) {
      await this.memory.saveMessages({ messages: [message] });
      return;
    }
    if (!this.record) await this.#begin();
    this.stepped = true;
    const list = new MessageList(HERE);
    list.add(message, message.role === "user" ? "input" : "response");
    const step = this.om.beginTurn({ ...HERE, messageList: list });
    await step.start(this.memory);
    try {
      await step.step(0).prepare();
    } catch (fault) {
      this.#noteFault(fault);
    }
    await step.end();
  }

  /** What a message adds to OM's estimate of what it has not observed, which also counts a conversation as such. */
  #tokensOf(message) {
    const counter = this.om.getTokenCounter();
    const first = counter.countMessages([message]);
    return this.tailTokens ? counter.countMessages([message, message]) - first : first;
  }

  async #begin() {
    const createdAt = new Date(this.clock);
    const thread = { id: HERE.threadId, resourceId: HERE.resourceId, title: "dialogue", metadata: {} };
    await this.memory.saveThread({ thread: { ...thread, createdAt, updatedAt: createdAt } });
  }

  /**
   * Whether the next turn of OM's would do more than store its message. OM finds out by reading and counting all that
   * it has not observed, at every message; the decisions are the same where it is only asked once they are due.
   */
  #hasWork() {
    if (this.busy || this.tailTokens >= this.options.message_tokens) return true;
    const { buffering } = this.om;
    const key = buffering.getLockKey(HERE.threadId, HERE.resourceId);
    const threshold = this.options.message_tokens;
    return buffering.shouldTriggerAsyncObservation(this.tailTokens, key, this.record, undefined, threshold);
  }

  /** Waits for what OM does in the background, then sees how it stands. Throws where a model call failed. */
  async #settled() {
    if (!this.stepped) return;
    this.stepped = false;
    await this.memory.settled();
    await this.om.waitForBuffering(HERE.threadId, HERE.resourceId, 2 ** 31 - 1); // reflections are not among the above
    const before = this.record;
    this.record = await this.om.getRecord(HERE.threadId, HERE.resourceId);
    this.busy = standing(before) !== standing(this.record);
    const messages = await this.om.loadUnobservedMessages(HERE);
    this.tail = messages.map((message) => message.id);
    this.tailTokens = this.om.getTokenCounter().countMessages(messages);
    const log = this.record.activeObservations ?? "";
    this.chunks = log.trim().split(BOUNDARY).map((chunk) => this.#behind(chunk));
    if (this.prose && log.includes(this.prose.text)) this.#loseLog(log);
    const { continuationMessage } = await this.memory.getContext(HERE);
    this.reminder = continuationMessage?.content.parts[0].text;
    if (this.failures.size) {
      const [why] = this.failures;
      this.failures.clear();
      throw new Error(`Mastra went on without a model call that failed: ${why}`);
    }
  }

  /** Ids of the turns behind a chunk of the log, which is made of what was said in one or more replies. */
  #behind(chunk) {
    const said = this.observed.filter(({ text }) => chunk.includes(text));
    return [...new Set((said.length ? said : this.observed).flatMap(({ turns }) => turns))];
  }

  /** Listens to what OM gives its models and gets from them. */
  #hooks() {
    let given = [];
    return {
      beforeObservation: ({ messages }) => {
        given = messages.map((message) => message.id);
      },
      afterObservation: ({ observations, trigger }) => {
        const reply = this.om.observer.lastExchange?.rawOutput ?? "";
        if (observations.trim()) {
          this.observations += 1;
          this.observed.push({ text: observations.trim(), turns: given });
          if (CUT.test(reply)) this.#lose([], "the observer's reply was cut off; the log holds the beginning", reply);
        } else if (trigger === "async-buffer") {
          this.#lose([], "the observer's reply held no observation; the messages are observed again later", reply);
        } else {
          this.#lose(given, "the observer's reply held no observation; the messages count as observed", reply);
        }
      },
      afterReflection: ({ observations }) => {
        const turns = [...new Set(this.observed.flatMap((said) => said.turns))];
        const reflection = { text: observations.trim(), turns };
        this.observed.push(reflection);
        if (!ENTRY.test(observations)) this.prose = reflection;
      },
      onObservationEnd: ({ error }) => error && this.#noteFault(error),
      onReflectionEnd: ({ error }) => error && this.#noteFault(error),
    };
  }

  /** A reply that OM threw away leaves everything as it was; a call that failed is an error of this write. */
  #noteFault(fault) {
    const why = `${fault.name}: ${fault.message}`;
    if (!UNREADABLE.test(fault.message)) this.failures.add(why);
    else if (this.lost.at(-1)?.why !== fault.message) this.#lose([], fault.message);
  }

  /** A reflection without an observation has taken effect: what it replaced is gone, but for what stands elsewhere. */
  #loseLog(log) {
    const { text, turns } = this.prose;
    const held = [log, ...bufferedChunks(this.record).map((chunk) => chunk.observations)];
    const saying = this.observed.filter((said) => said !== this.prose && held.some((part) => part.includes(said.text)));
    const kept = new Set([...this.tail, ...saying.flatMap((said) => said.turns)]);
    const gone = turns.filter((turn) => !kept.has(turn));
    this.#lose(gone, "the reflector's reply held no observation, and took the place of the log", text);
    this.prose = undefined;
  }

  #lose(turns, why, reply) {
    this.lost.push({ turns, why, reply });
  }
}

/** What of a record decides what OM does next. */
function standing(record) {
  if (!record) return "";
  const { activeObservations, bufferedReflection, generationCount, lastObservedAt, lastBufferedAtTokens } = record;
  const chunks = bufferedChunks(record).map((chunk) => chunk.cycleId);
  const cursors = [generationCount, lastObservedAt, lastBufferedAtTokens];
  return JSON.stringify([activeObservations, bufferedReflection, chunks, cursors]);
}

function bufferedChunks(record) {
  return record?.bufferedObservationChunks ?? [];
}

/** A turn as a message. Of two people the first is the user and the other the assistant, each named in the text. */
function asMessage(turn, createdAt) {
  const speaker = turn.speaker.toLowerCase();
  const isRole = speaker === "user" || ASSISTANTS.has(speaker);
  const role = isRole ? (speaker === "user" ? "user" : "assistant") : roleOf(turn.speaker);
  const text = isRole ? turn.text : `${turn.speaker}: ${turn.text}`;
  // A part without a time of its own is stamped with the clock's, and that is the time the observer is told.
  const content = { format: 2, parts: [{ type: "text", text, createdAt: createdAt.getTime() }], content: text };
  return { id: turn.id, role, createdAt, ...HERE, type: "text", content };
}

const speakers = [];
function roleOf(name) {
  if (!speakers.includes(name)) speakers.push(name);
  return speakers.indexOf(name) % 2 ? "assistant" : "user";
}

/** Milliseconds of a time on the wire, which without a zone is UTC here: the process runs in that zone. */
function moment(time) {
  return new Date(time).getTime();
}

/**
 * Mends a defect: after an observation, OM reflects with the record as it was before, and the new generation takes
 * over that one's cursor.
 */
async function keepCursor(store) {
  const domain = await store.getStore("memory");
  const original = domain.createReflectionGeneration.bind(domain);
  domain.createReflectionGeneration = async (input) => {
    const { currentRecord: given } = input;
    const fresh = await domain.getObservationalMemory(given.threadId, given.resourceId);
    if (fresh?.id !== given.id) return original(input);
    const { lastObservedAt, totalTokensObserved } = fresh;
    return original({ ...input, currentRecord: { ...given, lastObservedAt, totalTokensObserved } });
  };
}

await serve(new ObservationalMemory());
