// The official TypeScript client: lists, calls, is refused, and waits for an approval. `node client.mjs URL`, with a task's token
// in ACTUM_TOKEN. Prints `waits CALL` once a call waits; whoever reads it decides.
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const headers = { Authorization: `Bearer ${process.env.ACTUM_TOKEN}` }
const transport = new StreamableHTTPClientTransport(new URL(process.argv[2]), { requestInit: { headers } })
const client = new Client({ name: 'typescript', version: '1' })
await client.connect(transport)

const { tools } = await client.listTools()
const names = tools.map((tool) => tool.name)
assert(names.includes('openspine-status-read') && names.includes('lyra-ui-preview'), names.join())

// Held against the tool's output schema by the client itself.
const status = await client.callTool({ name: 'openspine-status-read' })
assert.equal(status.structuredContent.store, 'sqlite')

const denied = client.callTool({ name: 'connector-enable' })
await assert.rejects(denied, { code: -32602, message: /Unknown tool: connector-enable/ })
const unfit = await client.callTool({ name: 'terminal-reply--owner_device', arguments: { text: 1 } })
assert(unfit.isError && unfit.content[0].text.includes('/text'))

const draft = { title: 'Answer', kind: 'text', body: 'Tuesday at nine.' }
const waits = await client.callTool({ name: 'lyra-ui-preview', arguments: draft })
assert.equal(waits.structuredContent.decision, 'approval_required')
console.log(`waits ${waits.structuredContent.request_id}`)
const state = async () => {
  const { contents } = await client.readResource({ uri: waits.structuredContent.resource })
  return JSON.parse(contents[0].text).state
}
let now
for (let look = 0; (now = await state()) === 'pending' && look < 100; look += 1) await pause(200)
assert.equal(now, 'succeeded')

await transport.terminateSession()
await client.close()
console.log(`TypeScript client: ${names.length} tools, a call, two refusals, an approval`)
