/** Holds pages against the rules of WCAG and good practice that a program can check. */
import axe, { type AxeResults, type RunOnly } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** Levels A and AA, of every version. */
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa', 'best-practice'];

/** Those that go by colours. */
const colourRules = ['color-contrast', 'link-in-text-block'];

/** What is wrong with the page as it is now: a line for each rule, and below it a line for each element that breaks it. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  return problemsBy(page, { type: 'tag', values: rules });
}

/** The same of its colours alone: for a page that was looked at in others. */
export async function colourProblems(page: Page): Promise<string[]> {
  return problemsBy(page, { type: 'rule', values: colourRules });
}

async function problemsBy(page: Page, runOnly: RunOnly): Promise<string[]> {
  // As text through the debugger's door: a script that the page itself loads would break its policy.
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe.source);
  const options = { runOnly, resultTypes: ['violations'] };
  const results = await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify(options)})`);
  return results.violations.flatMap(({ id, impact, help, helpUrl, nodes }) => [
    `${id} (${impact}): ${help}; ${helpUrl}`,
    ...nodes.map(({ target, failureSummary }) => `  ${target.join(' ')}: ${oneLine(failureSummary ?? '')}`),
  ]);
}

/** Requires that nothing is wrong. Call it for each state that a page can be in: dialogs, errors, dark, narrow. */
export async function expectAccessible(page: Page): Promise<void> {
  const problems = await accessibilityProblems(page);
  expect(problems, problems.join('\n')).toEqual([]);
}

function oneLine(summary: string): string {
  return summary.replaceAll(/\s+/g, ' ').replace(/^Fix (any|all) of the following: /, '');
}
