"""The tables of a ledger. Names of columns are the names used everywhere: frames, exports, docs."""

VERSION = 3  # see migrate.py for what came before

# Columns that a repeated run may fill differently: clocks, and which attempt paid.
TIMES = frozenset({
    "started_at", "finished_at", "wall_s", "latency_s", "ttft_s", "seconds", "attempt", "replays",
})  # fmt: skip

TABLES = """
CREATE TABLE meta (                     -- schema_version, spec, spec_hash, memgauge_version, provenance
  key    TEXT PRIMARY KEY,
  value  TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE units (                    -- one (memory, setting, workload item, protocol, seed)
  unit              INTEGER PRIMARY KEY, -- place in the plan, from 1
  key               TEXT NOT NULL UNIQUE, -- hash of all that makes the unit what it is
  memory            TEXT NOT NULL,
  memory_options    TEXT NOT NULL,      -- JSON
  control           INTEGER NOT NULL,   -- 1: bounds the table, competes with nobody
  write_every       INTEGER NOT NULL,   -- ingest trigger, in turns
  setting           TEXT NOT NULL,
  backbone          TEXT NOT NULL,
  model             TEXT NOT NULL,
  effort            TEXT,
  embedder          TEXT NOT NULL,
  embedding_model   TEXT NOT NULL,
  workload          TEXT NOT NULL,
  item              TEXT NOT NULL,      -- conversation id
  protocol          TEXT NOT NULL,      -- serve | recall
  seed              INTEGER NOT NULL,
  cell_turns        INTEGER,            -- N of the cost grid, where the item was made for it
  cell_tokens       INTEGER,            -- L of the cost grid
  turns             INTEGER NOT NULL,
  mean_turn_tokens  REAL NOT NULL,      -- measured L, o200k
  questions         INTEGER NOT NULL,
  status            TEXT NOT NULL,      -- planned | running | done | failed | interrupted
  error             TEXT,
  attempt           INTEGER NOT NULL,   -- how often the unit was started
  started_at        REAL,               -- Unix seconds
  finished_at       REAL,
  wall_s            REAL,               -- of the attempt that ended it
  store_bytes       INTEGER,            -- footprint after the last write
  store_tokens      INTEGER,
  written_tokens    INTEGER             -- o200k tokens given to write, as lines of a prompt
);

CREATE TABLE texts (                    -- every text once, by content
  text    INTEGER NOT NULL UNIQUE,      -- first 63 bits of the SHA-256 of the body; no key, so that rows append
  body    TEXT NOT NULL
);

CREATE TABLE vectors (                  -- every embedding once, so that it can be replayed
  text    INTEGER NOT NULL,
  model   TEXT NOT NULL,
  body    BLOB NOT NULL,                -- float32, little endian
  PRIMARY KEY (text, model)
) WITHOUT ROWID;

CREATE TABLE calls (                    -- one billed request
  call              INTEGER PRIMARY KEY,
  unit              INTEGER NOT NULL REFERENCES units,
  seq               INTEGER NOT NULL,   -- order within the unit, from 1
  attempt           INTEGER NOT NULL,   -- attempt of the unit that paid for it
  replays           INTEGER NOT NULL DEFAULT 0, -- later attempts that were served from this row
  claimed           INTEGER NOT NULL DEFAULT 1, -- 0: paid by an attempt that died, and not asked again
  turn              INTEGER NOT NULL,   -- from 1; 0 before the first
  question          TEXT,               -- question id, where one was being answered
  stage             TEXT NOT NULL,      -- write | manage | read | answer | judge
  background        INTEGER NOT NULL,   -- 1: arrived while no scope was open
  kind              TEXT NOT NULL,      -- chat | embed
  asked             TEXT,               -- JSON: what the caller asked for and the setting replaced
  model             TEXT NOT NULL,      -- served, as the upstream names it
  provider          TEXT,
  request_key       BLOB NOT NULL,      -- hash of model, prompt and parameters
  prompt_base       INTEGER,            -- earlier call whose first prompt_keep pieces begin this prompt
  prompt_keep       INTEGER NOT NULL,
  prompt_new        BLOB NOT NULL,      -- the further pieces: text ids, int64 little endian
  params            INTEGER NOT NULL,   -- text id: JSON of the other request fields
  reply             INTEGER,            -- text id: JSON of the reply as served
  finish_reason     TEXT,
  input_tokens      INTEGER,            -- at the full rate: excludes cached and cache-write
  cached_tokens     INTEGER,
  cache_write_tokens INTEGER,
  output_tokens     INTEGER,            -- visible: excludes reasoning
  reasoning_tokens  INTEGER,
  embedding_tokens  INTEGER,
  usage_source      TEXT NOT NULL,      -- upstream | product | tokenizer
  counted_tokens    INTEGER NOT NULL,   -- our o200k count of the prompt's text
  prefix_tokens     INTEGER NOT NULL,   -- leading tokens equal to an earlier call's of the unit and model
  prefix_turns_ago  INTEGER,            -- how many turns ago the latest such call was
  -- what it can have used besides, in attempts whose usage never arrived; 0 where all did
  input_at_most     INTEGER NOT NULL DEFAULT 0,
  output_at_most    INTEGER NOT NULL DEFAULT 0,
  started_at        REAL NOT NULL,
  latency_s         REAL NOT NULL,      -- of the attempt that ended it: no queueing, no earlier tries
  ttft_s            REAL,               -- time to first token, where it was streamed
  attempts          INTEGER NOT NULL,   -- requests sent upstream, retries included
  -- ok | http | connection | timeout | malformed | refused | context | interrupted
  outcome           TEXT NOT NULL,
  status            INTEGER,            -- HTTP status, where there was one
  error             TEXT
);
-- No two calls that count are one and the same; judges (attempt 0) have an order of their own.
CREATE UNIQUE INDEX calls_of_unit ON calls (unit, attempt = 0, seq) WHERE claimed = 1;

CREATE TABLE steps (                    -- what the protocol did, and how long it took
  unit      INTEGER NOT NULL REFERENCES units,
  step      INTEGER NOT NULL,           -- order within the unit, from 1
  turn      INTEGER NOT NULL,
  question  TEXT,
  stage     TEXT NOT NULL,              -- write | manage | read | answer
  turns     INTEGER NOT NULL,           -- turns written, or turns dropped from a read
  tokens    INTEGER,                    -- o200k tokens written, or handed to the generator by a read
  seconds   REAL NOT NULL,
  PRIMARY KEY (unit, step)
) WITHOUT ROWID;

CREATE TABLE states (                   -- what drives a memory's cost, as it told after a turn (facts, buffers, …)
  unit   INTEGER NOT NULL REFERENCES units,
  turn   INTEGER NOT NULL,
  state  TEXT NOT NULL,                 -- JSON object of numbers
  PRIMARY KEY (unit, turn)
) WITHOUT ROWID;

CREATE TABLE faults (                   -- what went wrong inside a memory that went on: a reply it could not use, …
  unit        INTEGER NOT NULL REFERENCES units,
  fault       INTEGER NOT NULL,         -- order within the unit, from 1
  turn        INTEGER NOT NULL,
  question    TEXT,
  stage       TEXT NOT NULL,
  what        TEXT NOT NULL,            -- in one line
  reply       INTEGER,                  -- text id: the reply itself, where there was one
  lost_turns  INTEGER NOT NULL,         -- turns of which the memory holds nothing on that account
  PRIMARY KEY (unit, fault)
) WITHOUT ROWID;

CREATE TABLE answers (                  -- one per question
  unit            INTEGER NOT NULL REFERENCES units,
  ordinal         INTEGER NOT NULL,     -- from 1
  question        TEXT NOT NULL,        -- question id
  text            TEXT NOT NULL,
  category        TEXT,
  golds           TEXT NOT NULL,        -- JSON list
  evidence        TEXT NOT NULL,        -- JSON list of turn ids
  unanswerable    INTEGER NOT NULL,
  answer          TEXT,
  outcome         TEXT NOT NULL,        -- ok | error: an error is neither right nor wrong
  error           TEXT,
  recalled        INTEGER,              -- text id: JSON list of lists of turn ids, best first
  context_tokens  INTEGER,
  PRIMARY KEY (unit, ordinal)
) WITHOUT ROWID;

CREATE TABLE verdicts (                 -- what a judge said of an answer, once per rubric and repeat
  unit     INTEGER NOT NULL REFERENCES units,
  ordinal  INTEGER NOT NULL,            -- of the answer
  rubric   TEXT NOT NULL,               -- name and version
  repeat   INTEGER NOT NULL,            -- from 1
  verdict  TEXT,                        -- correct | wrong; NULL where outcome is error
  outcome  TEXT NOT NULL,               -- ok | error: neither right nor wrong
  why      TEXT,                        -- the judge's reason, or the error
  PRIMARY KEY (unit, ordinal, rubric, repeat)
) WITHOUT ROWID;

CREATE TABLE scores (                   -- what a metric or a judge said of an answer
  unit     INTEGER NOT NULL,
  ordinal  INTEGER NOT NULL,
  metric   TEXT NOT NULL,
  value    REAL,                        -- NULL: could not be scored
  PRIMARY KEY (unit, ordinal, metric)
) WITHOUT ROWID;
"""
