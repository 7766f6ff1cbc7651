// OpenAI, Chat Completions; also what speaks it, at OPENAI_BASE_URL.

import OpenAI from 'openai';
import type { ChatCompletionFunctionTool, ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { type Beginning, type Model, parsed } from './model.ts';

export const shape = 'openai';

export function begin({ model, system, user, tools }: Beginning): Model {
  const client = new OpenAI();
  const messages: ChatCompletionMessageParam[] = [
    { role: 'system', content: system },
    { role: 'user', content: user },
  ];
  return {
    async next(results) {
      for (const { call, outcome } of results) {
        const { isError, content } = outcome;
        // There is no field that says that a result is an error.
        const text = JSON.stringify(isError ? { error: content } : content);
        messages.push({ role: 'tool', tool_call_id: call.id, content: text });
      }
      const completion = await client.chat.completions.create({
        model,
        messages,
        ...(tools.length > 0 && { tools: tools as unknown as ChatCompletionFunctionTool[] }),
      });
      const message = completion.choices[0]?.message;
      if (!message) throw new Error('the model gave no answer');
      messages.push(message);
      const calls = (message.tool_calls ?? [])
        .filter((call) => call.type === 'function')
        .map(({ id, function: { name, arguments: text } }) => ({ id, name, arguments: parsed(text) }));
      return { text: message.content ?? '', calls };
    },
  };
}
