// What each client does: it lists, reads, proposes twice under one key, waits for a person,
// and fetches the result. It is told where to connect and under which key, as JSON, and says
// what it saw in two lines of JSON: before the person decides, and after.
import { once } from 'node:events'

export const { url, token, command, key } = JSON.parse(process.argv[2])

/** The pages that a person was asked to open. */
export const pages = []

/** Opens a page, as far as its server is concerned. */
export const open = async ({ params }) => {
  pages.push(params.url)
  return { action: 'accept' }
}

const say = (seen) => console.log(JSON.stringify(seen))
const text = ({ content }) => content[0].text

export async function visit(client) {
  const { tools } = await client.listTools()
  const exact = { integer: JSON.rawJSON('9007199254740993'), text: '👩‍🚀', empty: {}, none: null }
  const echo = await client.callTool({ name: 'probe_echo', arguments: exact })
  const big = await client.callTool({ name: 'probe_big', arguments: { bytes: 250000, emoji: true } })
  const write = { name: 'probe_write', arguments: { note: key }, _meta: { 'tether/idempotencyKey': key } }
  const proposed = await client.callTool(write)
  const again = await client.callTool(write)
  const action = proposed.structuredContent.actionId
  say({
    tools: tools.map(({ name }) => name),
    hint: tools.find(({ name }) => name === 'probe_echo').annotations.readOnlyHint,
    echo: text(echo),
    emoji: echo.structuredContent.text,
    big: text(big),
    proposed: text(proposed),
    action,
    again: again.structuredContent.actionId,
    pages,
  })

  await once(process.stdin, 'data')
  const done = await client.callTool({ name: 'tether_actions', arguments: { actionId: action } })
  say({ status: done.structuredContent.actions[0].status, done: text(done) })
  await client.close()
  process.stdin.destroy()
}
