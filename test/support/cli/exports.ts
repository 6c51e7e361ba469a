/** The exports of other systems in `test/samples/exports`: three questions each, and what is none. */
import { fileURLToPath } from 'node:url';
import { type Place, project, succeed } from './cli-place.js';

export const exportedFile = (name: string): string =>
  fileURLToPath(new URL(`../../samples/exports/${name}`, import.meta.url));

export interface Export {
  readonly what: string;
  readonly file: string;
  readonly args: readonly string[];
  /** How many records are no questions. */
  readonly skipped: number;
}

const event = ['--event', 'assistant-question'];

export const EXPORTS: readonly Export[] = [
  { what: 'GoatCounter', file: 'goatcounter.csv', args: ['--format', 'goatcounter', ...event], skipped: 4 },
  { what: 'Umami', file: 'umami-website_event.csv', args: ['--format', 'umami', ...event], skipped: 3 },
  {
    what: 'PostHog',
    file: 'posthog.jsonl',
    args: ['--format', 'posthog', '--event', 'assistant_question'],
    skipped: 2,
  },
  {
    what: 'a documentation platform',
    file: 'conversations.json',
    args: ['--format', 'conversations'],
    skipped: 0,
  },
];

/** Imports an export into the project of a place, and returns what the command says. */
export async function importExport(place: Place, { file, args }: Export): Promise<unknown> {
  const given = ['import', exportedFile(file), '--project', project, ...args, '--caller', 'web', '--json'];
  return JSON.parse((await succeed(place.run(given))).stdout);
}
