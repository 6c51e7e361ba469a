/** `node langchain.mjs URL KEY ARGUMENTS`: the tools' names and a call's structured answer, as lines of JSON. */
import { MultiServerMCPClient } from '@langchain/mcp-adapters';

const [url, key, given] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${key}` };
const client = new MultiServerMCPClient({ mcpServers: { stats: { transport: 'http', url, headers } } });
const tools = await client.getTools();
process.stdout.write(`${JSON.stringify(tools.map(({ name }) => name))}\n`);
const tool = tools.find(({ name }) => name === 'get_caller_stats');
const { structuredContent } = await tool.invoke(JSON.parse(given));
process.stdout.write(`${JSON.stringify(structuredContent)}\n`);
await client.close();
