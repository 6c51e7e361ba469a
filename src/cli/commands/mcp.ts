/** `caller-stats mcp`: tools with which AI assistants read the counts (Model Context Protocol over stdin and stdout). */
import type { Command } from 'commander';
import { LIST_PROJECTS } from '../../app/reading/reports.js';
import type { Io } from '../io.js';
import { addSourceOptions, runOnSource, type SourceOptions } from '../options/count-source.js';

export function addMcpCommand(program: Command, io: Io, version: string): void {
  const command = program
    .command('mcp')
    .description(
      'lets AI assistants read the counts: an MCP server with read-only tools, over stdin and stdout',
    );
  addSourceOptions(command).action(async (options: SourceOptions) => {
    // Loaded only here: the protocol library takes longer to load than most commands run.
    const { serveTools } = await import('../../mcp/server.js');
    await runOnSource(options, io, LIST_PROJECTS, (source) => serveTools(source, io, version));
  });
}
