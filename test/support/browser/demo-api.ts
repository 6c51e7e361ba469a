/** The public API's counts of the sample, which the pages must show. */
import type { Counts } from '../../../src/domain/counting/counts.js';
import type { DashboardServer } from './dashboard-server.js';

export interface Bucket extends Counts {
  readonly start: string;
  readonly end: string;
  readonly previous?: Counts | null;
}

export interface Callers {
  readonly total: number;
  readonly callers: readonly { readonly caller: string; readonly type: string; readonly count: number }[];
}

/** Bounds as instants, or a period. A range without a bound is open at that end. Without a caller, all are counted. */
export interface Bounds {
  readonly dateFrom?: string;
  readonly dateTo?: string;
  readonly period?: string;
  readonly timeZone?: string;
  readonly weekStart?: string;
  readonly compare?: string;
  readonly caller?: string;
}

export function countsOf(
  server: DashboardServer,
  bounds: Bounds,
): Promise<Counts & { readonly previous?: Counts }> {
  return ask(server, 'caller-stats', { ...bounds });
}

export async function bucketsOf(
  server: DashboardServer,
  question: Bounds & { readonly interval: string; readonly timeZone: string },
): Promise<readonly Bucket[]> {
  return (await ask<{ buckets: readonly Bucket[] }>(server, 'caller-stats/series', { ...question })).buckets;
}

export function callersOf(server: DashboardServer, bounds: Bounds): Promise<Callers> {
  return ask(server, 'callers', { ...bounds });
}

async function ask<T>(
  { url, firstRun }: DashboardServer,
  operation: string,
  query: Record<string, string>,
): Promise<T> {
  const path = `/v1/analytics/${firstRun.project}/assistant/${operation}?${new URLSearchParams(query)}`;
  const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${firstRun.admin}` } });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}
