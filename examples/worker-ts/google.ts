// Google, Gemini API.

import { randomUUID } from 'node:crypto';
import { type Content, type FunctionDeclaration, GoogleGenAI } from '@google/genai';
import type { Beginning, Model } from './model.ts';

export const shape = 'gemini';

export function begin({ model, system, user, tools }: Beginning): Model {
  // The key is read from GEMINI_API_KEY, the address from GOOGLE_GEMINI_BASE_URL.
  const client = new GoogleGenAI({});
  const contents: Content[] = [{ role: 'user', parts: [{ text: user }] }];
  // Not every model names its calls; those that do want the name back.
  const named = new Set<string>();
  return {
    async next(results) {
      if (results.length > 0) {
        const parts = results.map(({ call, outcome }) => ({
          functionResponse: {
            ...(named.has(call.id) && { id: call.id }),
            name: call.name,
            response: { [outcome.isError ? 'error' : 'output']: outcome.content },
          },
        }));
        contents.push({ role: 'user', parts });
      }
      const answer = await client.models.generateContent({
        model,
        contents,
        config: {
          systemInstruction: system,
          ...(tools.length > 0 && { tools: [{ functionDeclarations: tools as FunctionDeclaration[] }] }),
        },
      });
      const content = answer.candidates?.[0]?.content;
      if (!content) throw new Error('the model gave no answer');
      // As it came: its parts have signatures that the next request must bring back.
      contents.push(content);
      const parts = content.parts ?? [];
      const calls = parts.flatMap(({ functionCall: call }) => {
        if (!call) return [];
        if (call.id) named.add(call.id);
        return [{ id: call.id ?? randomUUID(), name: call.name ?? '', arguments: call.args ?? {} }];
      });
      return { text: parts.map((part) => (part.thought ? '' : (part.text ?? ''))).join(''), calls };
    },
  };
}
