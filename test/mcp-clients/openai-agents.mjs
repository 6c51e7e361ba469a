/** `node openai-agents.mjs URL KEY ARGUMENTS`: the tools' names and the text of a call, as lines of JSON. */
import { MCPServerStreamableHttp } from '@openai/agents';

const [url, key, given] = process.argv.slice(2);
const requestInit = { headers: { Authorization: `Bearer ${key}` } };
const server = new MCPServerStreamableHttp({ name: 'stats', url, requestInit });
await server.connect();
process.stdout.write(`${JSON.stringify((await server.listTools()).map(({ name }) => name))}\n`);
const [{ text }] = await server.callTool('get_caller_stats', JSON.parse(given));
process.stdout.write(`${JSON.stringify(text)}\n`);
await server.close();
