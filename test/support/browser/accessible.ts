/** Checks pages with axe against the rules of WCAG and best practices, and their elements with html-validate. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AxeResults, RunOnly } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { markupProblems } from '../markup.js';

/** The minified file is half as long as the usual one, and each page parses it. */
const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Levels A and AA of every version. */
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa', 'best-practice'];

/** Rules about colors. */
const colorRules = ['color-contrast', 'link-in-text-block'];

/** The problems of a page in its current state: a line for each rule, followed by one for each element that breaks it. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  const problems = await problemsBy(page, { type: 'tag', values: rules });
  return [...problems, ...(await markupProblems(await page.content()))];
}

/** Only the problems with colors, for a page that was already checked in other colors. */
export async function colorProblems(page: Page): Promise<string[]> {
  return problemsBy(page, { type: 'rule', values: colorRules });
}

async function problemsBy(page: Page, runOnly: RunOnly): Promise<string[]> {
  // Evaluated by the debugger: the page's policy would block a script element.
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe);
  const options = { runOnly, resultTypes: ['violations'] };
  const results = await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify(options)})`);
  return results.violations.flatMap(({ id, impact, help, helpUrl, nodes }) => [
    `${id} (${impact}): ${help}; ${helpUrl}`,
    ...nodes.map(({ target, failureSummary }) => `  ${target.join(' ')}: ${oneLine(failureSummary ?? '')}`),
  ]);
}

/** Expects no problem in the page's current state. */
export async function expectAccessible(page: Page): Promise<void> {
  const problems = await accessibilityProblems(page);
  expect(problems, problems.join('\n')).toEqual([]);
}

function oneLine(summary: string): string {
  return summary.replaceAll(/\s+/g, ' ').replace(/^Fix (any|all) of the following: /, '');
}

/** Whether the page scrolls sideways. */
const isTooWide = (page: Page) =>
  page.evaluate<boolean>('document.documentElement.scrollWidth > document.documentElement.clientWidth');

/** Also in dark colors, and on a narrow screen. */
export async function expectAccessibleEverywhere(page: Page): Promise<void> {
  await expectAccessible(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await colorProblems(page)).toEqual([]);
  await page.setViewportSize({ width: 320, height: 700 });
  await expect.poll(() => isTooWide(page)).toBe(false);
  expect(await accessibilityProblems(page)).toEqual([]);
}
