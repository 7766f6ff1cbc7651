// Vercel's AI SDK, here with its provider of OpenAI; another one of its providers takes one line.

import { openai } from '@ai-sdk/openai';
import { type JSONSchema7, type JSONValue, type ModelMessage, type ToolSet, generateText, jsonSchema, tool } from 'ai';
import type { Beginning, Model } from './model.ts';

export const shape = 'openai';

interface ChatTool {
  function: { name: string; description: string; parameters: JSONSchema7; strict: boolean };
}

export function begin({ model, system, user, tools: shaped }: Beginning): Model {
  const tools: ToolSet = {};
  for (const { function: told } of shaped as unknown as ChatTool[]) {
    const { name, description, parameters, strict } = told;
    // Without `execute`: calls come back to the loop, and run nowhere but at the kernel.
    tools[name] = tool({ description, strict, inputSchema: jsonSchema(parameters) });
  }
  const messages: ModelMessage[] = [{ role: 'user', content: user }];
  return {
    async next(results) {
      if (results.length > 0) {
        const content = results.map(({ call, outcome }) => ({
          type: 'tool-result' as const,
          toolCallId: call.id,
          toolName: call.name,
          output: {
            type: outcome.isError ? ('error-json' as const) : ('json' as const),
            value: outcome.content as JSONValue,
          },
        }));
        messages.push({ role: 'tool', content });
      }
      const { text, toolCalls, responseMessages } = await generateText({
        model: openai.chat(model),
        instructions: system,
        messages,
        tools,
      });
      // For a tool that it does not know the SDK adds a result of its own; the kernel answers that, too.
      messages.push(...responseMessages.filter((message) => message.role === 'assistant'));
      const calls = toolCalls.map((call) => ({
        id: call.toolCallId,
        name: call.toolName,
        arguments: call.input as unknown,
      }));
      return { text, calls };
    },
  };
}
