// node worker.ts --provider openai|openai-responses|anthropic|google|ai-sdk
//
// ACTUM_TOKEN is the task's token, ACTUM_URL the kernel, MODEL the model. Each SDK reads its own variables.

import { parseArgs } from 'node:util';
import { Actum } from './actum.ts';
import { SYSTEM, run, told } from './loop.ts';

// Only the one that is asked for is loaded.
const providers = {
  openai: () => import('./openai-chat.ts'),
  'openai-responses': () => import('./openai-responses.ts'),
  anthropic: () => import('./anthropic.ts'),
  google: () => import('./google.ts'),
  'ai-sdk': () => import('./ai-sdk.ts'),
};

try {
  const { provider: name = '' } = parseArgs({ options: { provider: { type: 'string' } } }).values;
  const { ACTUM_TOKEN, ACTUM_URL = 'http://127.0.0.1:7373', MODEL } = process.env;
  if (!Object.hasOwn(providers, name) || !ACTUM_TOKEN || !MODEL) {
    throw new Error(`set ACTUM_TOKEN and MODEL, and say --provider ${Object.keys(providers).join('|')}`);
  }
  const provider = await providers[name as keyof typeof providers]();
  const actum = new Actum(ACTUM_URL, ACTUM_TOKEN, console.log);
  const task = await actum.task();
  const tools = await actum.tools(provider.shape);
  const model = provider.begin({ model: MODEL, system: SYSTEM, user: told(task), tools });
  await run(actum, model, console.log);
} catch (error) {
  // Its message alone: what else hangs on an error of an SDK may hold the conversation.
  console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
