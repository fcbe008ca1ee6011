// The client of the TypeScript SDK 1.x: in a session, where there is HTTP.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { command, open, token, url, visit } from './visit.mjs'

const client = new Client(
  { name: 'typescript-1', version: '1' },
  { capabilities: { elicitation: { url: {} } } },
)
client.setRequestHandler(ElicitRequestSchema, open)
const transport = command
  ? new StdioClientTransport({ command: command[0], args: command.slice(1) })
  : new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { Authorization: `Bearer ${token}` } },
    })
await client.connect(transport)
await visit(client)
