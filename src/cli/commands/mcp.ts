/** `caller-stats mcp`: the counts as tools for AI assistants, over stdin and stdout (Model Context Protocol). */
import type { Command } from 'commander';
import type { Io } from '../io.js';
import { addSourceOptions, runOnSource, type SourceOptions } from '../options/count-source.js';

export function addMcpCommand(program: Command, io: Io, version: string): void {
  const command = program
    .command('mcp')
    .description(
      'lets AI assistants read the counts: an MCP server with read-only tools, over stdin and stdout',
    );
  addSourceOptions(command).action(async (options: SourceOptions) => {
    // The protocol's library takes longer to load than most commands run.
    const { serveTools } = await import('../../mcp/server.js');
    await runOnSource(options, io, 'list_projects', (source) => serveTools(source, io, version));
  });
}
