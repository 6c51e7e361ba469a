/** Lighthouse on the pages of a server. It is no part of the project's own installation. */
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { root } from '../../tidy/sources.js';
import { runCommand } from '../cli/cli.js';
import { installPackages } from '../install-packages.js';
import { type Chromium, switches } from './chromium.js';
import type { SignedIn } from './dashboard-user.js';

const folder = join(root, 'test/pages');

interface PageReport {
  readonly path: string;
  /** One for each attempt. */
  readonly reports: readonly {
    readonly scores: Readonly<Record<string, number>>;
    readonly problems: readonly string[];
  }[];
}

interface Options {
  readonly found: Chromium;
  readonly origin: string;
  readonly paths: readonly string[];
  readonly signedIn?: SignedIn;
  /** The lowest score of each category, 100 at most. */
  readonly aims: Readonly<Record<string, number>>;
  readonly attemptsMax: number;
}

export const installLighthouse = (): Promise<void> => installPackages(folder);

export async function runLighthouse({ found, signedIn, ...options }: Options): Promise<PageReport[]> {
  const browser = {
    executablePath: found.path ?? chromium.executablePath(),
    env: { ...process.env, ...found.env },
    args: [...switches, '--no-sandbox'],
  };
  const cookies = (signedIn?.cookies ?? []).map(({ name, value }) => ({
    ...{ name, value, httpOnly: true, domain: new URL(options.origin).hostname },
  }));
  const args = [join(folder, 'lighthouse.mjs'), JSON.stringify({ ...options, browser, cookies })];
  const { status, stdout, stderr } = await runCommand(process.execPath, args, { hangMs: 1_800_000 });
  if (status !== 0) throw new Error(`Lighthouse: ${stderr}`);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as PageReport);
}
