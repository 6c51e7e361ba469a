/** Interprets the queries of dashboards and alert rules as Grafana and its Infinity data source do. */
import { createRequire } from 'node:module';
import { expect } from 'vitest';

type Jq = { readonly json: (input: unknown, filter: string) => unknown };

/** A promise with modules of its own cannot be imported. */
const jq = createRequire(import.meta.url)('jq-web') as Promise<Jq>;

export interface Query {
  readonly refId: string;
  readonly datasource: { readonly type: string; readonly uid: string };
  readonly type: string;
  readonly source: string;
  readonly parser: string;
  readonly format: string;
  readonly url: string;
  readonly url_options: {
    readonly method: string;
    readonly params: readonly { readonly key: string; readonly value: string }[];
  };
  readonly root_selector: string;
  readonly columns: readonly {
    readonly selector: string;
    readonly text: string;
    readonly type: 'string' | 'number' | 'timestamp';
  }[];
}

export interface Dashboard {
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string; readonly query: string }[];
  };
  readonly panels: readonly {
    readonly title: string;
    readonly type: string;
    readonly datasource: Query['datasource'];
    readonly targets: readonly Query[];
  }[];
}

export type Row = Readonly<Record<string, string | number | Date>>;

/** Replaces variables by their values. Unknown ones stay, as in Grafana. */
export function substituted(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{([^}]+)\}/g, (whole, name: string) => values[name] ?? whole);
}

/** Sends queries to a server as the data source does, with these values of the variables. */
export const asking =
  ({ url }: { readonly url: string }, key: string, values: Readonly<Record<string, string>>) =>
  async (query: Query | undefined, more = {}): Promise<Row[]> => {
    if (query === undefined) throw new Error('there is no query');
    const headers = { authorization: `Bearer ${key}`, accept: 'application/json;q=0.9,text/plain' };
    const response = await fetch(addressOf(query, url, { ...values, ...more }), { headers });
    expect(response.status).toBe(200);
    return rowsOf(query, await response.json());
  };

/** The URL of a query. Variables are replaced before parameters are encoded. */
function addressOf(
  { url, url_options: { params } }: Query,
  base: string,
  values: Readonly<Record<string, string>>,
): URL {
  const address = new URL(`${base}${substituted(url, values)}`);
  for (const { key, value } of params) address.searchParams.append(key, substituted(value, values));
  return address;
}

/** The rows of a response below the root selector, where an object is one row, with the columns of the query. */
async function rowsOf({ parser, root_selector, columns }: Query, answer: unknown): Promise<Row[]> {
  const root = await selected(parser, root_selector, answer);
  if (typeof root !== 'object' || root === null) throw new Error(`nothing is at ${root_selector}`);
  const rows = (Array.isArray(root) ? root : [root]) as Record<string, unknown>[];
  return rows.map((row) =>
    Object.fromEntries(columns.map(({ selector, text, type }) => [text, asType(row[selector], type)])),
  );
}

async function selected(parser: string, selector: string, answer: unknown): Promise<unknown> {
  if (parser === 'jq-backend') return (await jq).json(answer, selector);
  return selector === '' ? answer : (answer as Record<string, unknown>)[selector];
}

/** The backend parser accepts only numbers as numbers and only RFC 3339 as times. */
function asType(value: unknown, type: 'string' | 'number' | 'timestamp'): string | number | Date {
  if (type === 'number' && typeof value === 'number') return value;
  if (type === 'string' && typeof value === 'string') return value;
  if (type === 'timestamp' && typeof value === 'string' && rfc3339.test(value)) return new Date(value);
  throw new Error(`is no ${type}: ${JSON.stringify(value)}`);
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
