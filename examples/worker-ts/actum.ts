// The worker's side of Actum's HTTP door: its task, and its calls.

import { setTimeout as sleep } from 'node:timers/promises';

/** What an answer with a secret in it says of its result: it is for the model and for nobody else. */
const MODEL_ONLY = 'actum:model-only-result/1';

export type Json = Record<string, unknown>;

export interface Tool {
  name: string;
  approval_required: boolean;
  selection_token_required: boolean;
}

export interface Task {
  task_id: string;
  purpose: string;
  message: string | null;
  expires_at: string;
  selection_tokens: { token: string; type: string }[];
  catalog: { tools: Tool[] };
}

/** A task with its tools as a provider takes them. */
export interface Shaped {
  catalog: { tools: Json[]; left_out?: { name: string; problem: string }[] };
}

/** What became of a call, as the model is told it. */
export interface Outcome {
  isError: boolean;
  content: unknown;
  /** The content holds a secret: it is neither logged nor kept. */
  modelOnly: boolean;
}

/** The token stopped working: the task was ended, taken back, or is past its time. */
export class TaskOver extends Error {}

export class Actum {
  #url: string;
  #token: string;
  #deadline = Date.now() + 30_000;
  #tools = new Map<string, Tool>();
  #selections: string[] = [];
  #log: (line: string) => void;

  constructor(url: string, token: string, log: (line: string) => void) {
    this.#url = url;
    this.#token = token;
    this.#log = log;
  }

  async task(): Promise<Task> {
    const task = (await this.#get('/v1/task')) as unknown as Task;
    this.#deadline = Date.parse(task.expires_at);
    this.#tools = new Map(task.catalog.tools.map((tool) => [tool.name, tool]));
    this.#selections = task.selection_tokens.map((selection) => selection.token);
    return task;
  }

  /** The tools in a provider's own shape, to be handed to its SDK as they are. */
  async tools(provider: string): Promise<Json[]> {
    const { catalog } = (await this.#get(`/v1/task?tools=${provider}`)) as unknown as Shaped;
    for (const { name, problem } of catalog.left_out ?? []) this.#log(`left out ${name}: ${problem}`);
    return catalog.tools;
  }

  offers(name: string): boolean {
    return this.#tools.has(name);
  }

  /** Makes a call and waits until it is decided. The key names this one call, however often it is sent. */
  async call(action: string, args: unknown, key: string): Promise<Outcome> {
    const call = { action, arguments: args, idempotency_key: key };
    // A tool does not say which of several tokens it takes. One that is refused was not spent.
    for (const token of this.#tools.get(action)?.selection_token_required ? this.#selections : []) {
      const outcome = await this.#post({ ...call, selection_token: token });
      if (!wrongSelection(outcome)) return outcome;
    }
    return this.#post(call);
  }

  async #post(call: Json): Promise<Outcome> {
    const { status, body } = await this.#ask('/v1/actions', call);
    if (status === 202) {
      this.#log(`${call['action']} waits for the owner: ${body['request_id']}`);
      return this.#decided(body['status_url'] as string);
    }
    if (status !== 200) {
      const { error, authorization } = body;
      return failed(authorization ? { ...(error as Json), authorization } : error);
    }
    // Where effects are suppressed there is a decision and no result.
    const content = body['result'] ?? { decision: body['decision'] };
    return { isError: false, content, modelOnly: body['result_schema'] === MODEL_ONLY };
  }

  /** Follows a call until the owner has decided and it has run, or the task is over. */
  async #decided(path: string): Promise<Outcome> {
    for (let wait = 500; ; wait = Math.min(wait * 1.5, 10_000)) {
      const { body } = await this.#ask(path);
      const { state, result, reason, superseded_by: other } = body;
      // The owner put a call with other arguments in its place.
      if (other) return this.#decided(`/v1/actions/${other}`);
      if (state === 'succeeded') return { isError: false, content: result, modelOnly: false };
      if (!['pending', 'approved', 'running'].includes(state as string)) return failed({ state, reason });
      if (Date.now() + wait > this.#deadline) return failed({ state, reason: 'the task is over' });
      await sleep(wait);
    }
  }

  async #get(path: string): Promise<Json> {
    const { status, body } = await this.#ask(path);
    if (status !== 200) throw new Error((body['error'] as { message: string }).message);
    return body;
  }

  /** One request, sent again while the kernel cannot be reached: a call runs once under its key. */
  async #ask(path: string, call?: Json): Promise<{ status: number; body: Json }> {
    for (let wait = 500; ; wait = Math.min(wait * 2, 10_000)) {
      try {
        const response = await fetch(this.#url + path, {
          headers: { authorization: `Bearer ${this.#token}` },
          ...(call && { method: 'POST', body: JSON.stringify(call) }),
          signal: AbortSignal.timeout(60_000),
        });
        if (response.status === 401) throw new TaskOver('the task is over, or its token is wrong');
        if (response.status !== 503) return { status: response.status, body: (await response.json()) as Json };
      } catch (error) {
        if (error instanceof TaskOver) throw error;
      }
      if (Date.now() + wait > this.#deadline) throw new Error(`no answer from the kernel at ${this.#url}`);
      await sleep(wait);
    }
  }
}

function failed(content: unknown): Outcome {
  return { isError: true, content, modelOnly: false };
}

function wrongSelection(outcome: Outcome): boolean {
  return outcome.isError && (outcome.content as Json)['reason'] === 'selection_token_invalid';
}
