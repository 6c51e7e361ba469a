/**
 * Runs Lighthouse on pages, as a phone: takes one JSON argument, and prints a line of JSON for each page, with the report of each
 * attempt. There is another attempt only if a score is below its aim.
 */
import lighthouse from 'lighthouse';
import { pageFunctions } from 'lighthouse/core/lib/page-functions.js';
import puppeteer from 'puppeteer-core';

const { browser: launch, origin, cookies, paths, aims, attemptsMax } = JSON.parse(process.argv[2]);
const browser = await puppeteer.launch({ headless: 'shell', ...launch });

/**
 * How many times slower than this machine, as busy as it is, a phone of the middle class is. Lighthouse's own table:
 * https://github.com/GoogleChrome/lighthouse/blob/main/docs/throttling.md#cpu-throttling
 */
const slowdown = (index) =>
  index >= 1300
    ? 3 + (index - 1300) / 233
    : index >= 800
      ? 2 + (index - 800) / 500
      : 1 + Math.max(0, index - 150) / 650;

const report = ({ categories, audits, runtimeError }) => ({
  scores: Object.fromEntries(
    Object.entries(categories).map(([name, { score }]) => [name, Math.round(score * 100)]),
  ),
  problems: runtimeError
    ? [runtimeError.message]
    : Object.values(audits)
        .filter(({ score }) => score !== null && score < 0.9)
        .map(({ id, displayValue = '' }) => `${id} ${displayValue}`),
});

async function attempt(path, index) {
  const context = await browser.createBrowserContext();
  await context.setCookie(...cookies);
  const page = await context.newPage();
  const speed = index ?? (await page.evaluate(pageFunctions.computeBenchmarkIndex));
  const settings = {
    ...{ onlyCategories: Object.keys(aims), disableFullPageScreenshot: true },
    throttling: {
      ...{ rttMs: 150, throughputKbps: 1638.4, cpuSlowdownMultiplier: slowdown(speed) },
      ...{ requestLatencyMs: 0, downloadThroughputKbps: 0, uploadThroughputKbps: 0 },
    },
  };
  const flags = { logLevel: 'silent', disableStorageReset: true };
  const { lhr } = await lighthouse(
    `${origin}${path}`,
    flags,
    { extends: 'lighthouse:default', settings },
    page,
  );
  await context.close();
  return lhr;
}

try {
  let index;
  for (const path of paths) {
    const reports = [];
    const isMet = () =>
      Object.entries(aims).every(([name, aim]) => reports.some(({ scores }) => scores[name] >= aim));
    while (reports.length < attemptsMax && !isMet()) {
      const lhr = await attempt(path, index);
      index = lhr.environment.benchmarkIndex;
      reports.push(report(lhr));
    }
    process.stdout.write(`${JSON.stringify({ path, index, reports })}\n`);
  }
} finally {
  await browser.close();
}
