// OpenAI, Responses. The whole conversation is sent each time, with the model's own items as they came.

import OpenAI from 'openai';
import type { FunctionTool, ResponseInput } from 'openai/resources/responses/responses';
import { type Beginning, type Model, parsed } from './model.ts';

export const shape = 'openai-responses';

export function begin({ model, system, user, tools }: Beginning): Model {
  const client = new OpenAI();
  const input: ResponseInput = [{ role: 'user', content: user }];
  return {
    async next(results) {
      for (const { call, outcome } of results) {
        const { isError, content } = outcome;
        // There is no field that says that a result is an error.
        const output = JSON.stringify(isError ? { error: content } : content);
        input.push({ type: 'function_call_output', call_id: call.id, output });
      }
      const response = await client.responses.create({
        model,
        instructions: system,
        input,
        tools: tools as unknown as FunctionTool[],
      });
      input.push(...(response.output as ResponseInput));
      const calls = response.output
        .filter((item) => item.type === 'function_call')
        .map((item) => ({ id: item.call_id, name: item.name, arguments: parsed(item.arguments) }));
      return { text: response.output_text, calls };
    },
  };
}
