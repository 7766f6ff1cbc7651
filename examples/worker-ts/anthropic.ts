// Anthropic, Messages.

import Anthropic from '@anthropic-ai/sdk';
import type { MessageParam, Tool } from '@anthropic-ai/sdk/resources/messages';
import type { Beginning, Model } from './model.ts';

export const shape = 'anthropic';

export function begin({ model, system, user, tools }: Beginning): Model {
  const client = new Anthropic();
  const messages: MessageParam[] = [{ role: 'user', content: user }];
  return {
    async next(results) {
      if (results.length > 0) {
        const content = results.map(({ call, outcome }) => ({
          type: 'tool_result' as const,
          tool_use_id: call.id,
          is_error: outcome.isError,
          content: JSON.stringify(outcome.content),
        }));
        messages.push({ role: 'user', content });
      }
      const message = await client.messages.create({
        model,
        system,
        messages,
        max_tokens: 8192,
        tools: tools as unknown as Tool[],
      });
      messages.push({ role: 'assistant', content: message.content });
      const text = message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
      const calls = message.content
        .filter((block) => block.type === 'tool_use')
        .map(({ id, name, input }) => ({ id, name, arguments: input }));
      return { text, calls };
    },
  };
}
