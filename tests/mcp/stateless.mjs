// The client of the TypeScript SDK 2.x, which speaks 2026-07-28.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { command, open, token, url, visit } from './visit.mjs'

const client = new Client(
  { name: 'typescript-2', version: '1' },
  {
    capabilities: { elicitation: { url: {} } },
    versionNegotiation: { mode: { pin: '2026-07-28' } },
  },
)
client.setRequestHandler('elicitation/create', open)
const transport = command
  ? new StdioClientTransport({ command: command[0], args: command.slice(1) })
  : new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { Authorization: `Bearer ${token}` } },
    })
await client.connect(transport)
await visit(client)
