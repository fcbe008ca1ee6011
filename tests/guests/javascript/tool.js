// Two tools over `fetch`: nothing here knows of Tether's transport.
const schema = (properties) =>
  JSON.stringify({ type: 'object', properties, required: Object.keys(properties), additionalProperties: false })

const tool = (name, effect, description) => ({
  name,
  title: undefined,
  description,
  effect,
  inputSchema: schema({ url: { type: 'string' } }),
  outputSchema: undefined,
})

async function ask(url, options) {
  let response
  try {
    response = await fetch(url, options)
  } catch (error) {
    throw { tag: 'failed', val: { code: 'NO_ANSWER', message: String(error), retryAfterMs: undefined } }
  }
  return JSON.stringify({ status: response.status, text: await response.text() })
}

export const handler = {
  describe: () => ({
    tools: [tool('js_get', 'read', 'Asks a URL.'), tool('js_post', 'write', 'Posts to a URL.')],
    migrations: [],
  }),
  preview: () => undefined,
  invoke: ({ tool, arguments: args }) => {
    const { url } = JSON.parse(args)
    return tool === 'js_get' ? ask(url) : ask(url, { method: 'POST', body: 'hello' })
  },
}
