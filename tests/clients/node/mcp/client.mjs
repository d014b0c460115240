// One thing a client does, by either of the protocol's TypeScript clients: node client.mjs WHICH URL|COMMAND DOING [ARGUMENTS]
import { createInterface } from 'node:readline';

const [which, where, doing, ...told] = process.argv.slice(2);
const NAME = { name: 'groundwire-tests', version: '1.0.0' };

async function made() {
  if (which === 'sdk') {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    return [new Client(NAME), new StreamableHTTPClientTransport(new URL(where))];
  }
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const mode = which === 'modern' ? { pin: '2026-07-28' } : 'auto';
  return [new Client(NAME, { versionNegotiation: { mode } }), new StreamableHTTPClientTransport(new URL(where))];
}

const ask = (client, question, options) =>
  which === 'sdk'
    ? client.callTool({ name: 'ask', arguments: { question } }, undefined, options)
    : client.callTool({ name: 'ask', arguments: { question } }, options);

const DOINGS = {
  // Lists the tools, so that the client checks results against their schemas, and asks.
  async ask(client, question) {
    const { tools } = await client.listTools();
    const progress = [];
    const result = await ask(client, question, { onprogress: (each) => progress.push(each.message) });
    return { tools: tools.map((tool) => tool.name), progress, ...result };
  },
  // Compiles the tools' schemas as strictly as can be, as clients do before they hand them to a model.
  async schemas(client) {
    const { default: Ajv } = await import('ajv/dist/2020.js');
    const { default: formats } = await import('ajv-formats');
    const ajv = new Ajv({ strict: true, allowUnionTypes: true });
    formats(ajv);
    const { tools } = await client.listTools();
    for (const tool of tools) for (const schema of [tool.inputSchema, tool.outputSchema]) ajv.compile(schema);
    return tools.map((tool) => [tool.name, tool.inputSchema.type, tool.outputSchema.type]);
  },
  // Asks, cancels when the tests say so on standard input, and ends with it.
  async cancel(client, question) {
    const leaving = new AbortController();
    const input = createInterface({ input: process.stdin });
    const ended = new Promise((resolve) => input.once('close', resolve));
    input.once('line', () => leaving.abort('enough'));
    try {
      return await ask(client, question, { signal: leaving.signal });
    } catch (error) {
      await ended;
      return { left: String(error) };
    }
  },
  async error(client) {
    try {
      return await client.callTool({ name: 'nonesuch', arguments: {} });
    } catch (error) {
      return { code: error.code, message: error.message };
    }
  },
};

const [client, transport] = await made();
await client.connect(transport);
const done = await DOINGS[doing](client, ...told);
console.log(JSON.stringify(done));
await client.close();
process.exit(0);
