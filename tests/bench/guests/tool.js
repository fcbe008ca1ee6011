// One tool that gives its arguments back.
export const handler = {
  describe: () => ({
    tools: [
      {
        name: 'js_echo',
        title: undefined,
        description: 'Gives its arguments back.',
        effect: 'read',
        inputSchema: '{"type":"object"}',
        outputSchema: undefined,
      },
    ],
    migrations: [],
  }),
  preview: () => undefined,
  invoke: ({ arguments: args }) => JSON.stringify(JSON.parse(args)),
}
