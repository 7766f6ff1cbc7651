// What the loop knows of a provider: it is asked, and wants calls made.

import type { Json, Outcome } from './actum.ts';

export interface Call {
  id: string;
  name: string;
  /** As the model wrote them, which may be anything. */
  arguments: unknown;
}

export interface Turn {
  text: string;
  calls: Call[];
}

/** What every conversation begins with. */
export interface Beginning {
  model: string;
  system: string;
  user: string;
  tools: Json[];
}

/** A conversation. It is told what came of all calls of its last turn, in their order, and takes the next one. */
export interface Model {
  next(results: { call: Call; outcome: Outcome }[]): Promise<Turn>;
}

/** Arguments that a provider gives as text. Without any, some models write nothing at all. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text || '{}');
  } catch {
    return text;
  }
}
