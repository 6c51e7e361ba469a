/** Changes to requests that would succeed. The oracle knows which responses are then allowed. */
import { gzipSync } from 'node:zlib';
import { breakJson, ODD_JSON } from './json-text.js';
import { HEADERS, METHODS, PARAMETER_NAMES, PARAMETER_VALUES, PATH_SEGMENTS } from './odd-values.js';
import type { Parts } from './parts.js';
import type { Random } from './random.js';
import type { World } from './world.js';

type Mutation = (parts: Parts, random: Random, world: World) => void;

/** Makes one random change. */
export function mutate(parts: Parts, random: Random, world: World): void {
  parts.mustSucceed = false;
  // Probes have neither key nor body, and refuse little else.
  const query = /^\/(livez|readyz)\b/.test(parts.target) ? 15 : 5;
  const names = { path: 4, query, method: 2, key: 4, headers: 4, body: parts.body === undefined ? 1 : 10 };
  MUTATIONS[random.weighted(names)](parts, random, world);
}

const MUTATIONS: Readonly<Record<'path' | 'query' | 'method' | 'key' | 'headers' | 'body', Mutation>> = {
  path(parts, random) {
    const [path = '', ...query] = parts.target.split(/(?=\?)/);
    const segments = path.split('/');
    const at = 1 + random.int(Math.max(segments.length - 1, 1));
    const piece = random.pick(PATH_SEGMENTS);
    const how = random.weighted({
      replace: 4,
      append: 2,
      insert: 2,
      drop: 1,
      upper: 1,
      encode: 2,
      absolute: 1,
      anything: 1,
    });
    if (how === 'replace') segments[at] = piece;
    else if (how === 'append') segments[at] += piece;
    else if (how === 'insert') segments.splice(at, 0, piece);
    else if (how === 'drop') segments.splice(at, 1);
    else if (how === 'upper') segments[at] = (segments[at] ?? '').toUpperCase();
    else if (how === 'encode') segments[at] = percentEncode(segments[at] ?? '', random);
    const changed = segments.join('/');
    const target = how === 'anything' ? random.pick(['*', '/', '/?', '/docs/../v1', `/${piece}`]) : changed;
    parts.target = `${how === 'absolute' ? random.pick(['http://fuzz.test', 'https://u:p@[::1]:1']) : ''}${target}${query.join('')}`;
    parts.alone ||= !/^(\/|\*$|https?:)/.test(parts.target);
  },
  query(parts, random) {
    const more = random.times(
      1 + random.int(3),
      () => `${random.pick(PARAMETER_NAMES)}${random.pick(['=', '=', ''])}${random.pick(PARAMETER_VALUES)}`,
    );
    const many = random.oneIn(50) ? random.times(200, () => `a${random.int(1000)}=${random.int(9)}`) : [];
    parts.target += `${parts.target.includes('?') ? '&' : '?'}${[...more, ...many].join(random.pick(['&', '&', '&&', ';']))}`;
    if (/[^\x21-\x7e]/.test(parts.target)) parts.alone = true;
  },
  method(parts, random) {
    parts.method = random.pick(METHODS);
    if (parts.method === 'HEAD' && parts.body !== undefined) parts.method = 'PUT';
  },
  key(parts, random, world) {
    const { admin, readOnly, recording, revoked } = world.keys;
    // An OTLP request without a project header is recorded into the project of its key.
    const ownProject = parts.target.includes('/queries') ? [`Bearer ${recording.counted}`] : [];
    const isRead = /caller-stats|callers/.test(parts.target);
    const at = random.int(admin.length);
    const other = `${admin.slice(0, at)}${admin[at] === 'x' ? 'y' : 'x'}${admin.slice(at + 1)}`;
    const bad = [
      `Bearer ${revoked}`,
      `Bearer ${other}`,
      `Bearer ${admin.slice(0, -1)}`,
      `Bearer ${admin}a`,
      `Basic ${admin}`,
      admin,
      'Bearer',
      '',
      `Bearer ${admin} ${admin}`,
      `Bearer, ${admin}`,
      `Bearer=${admin}`,
      'Bearer null',
      `Bearer ${'x'.repeat(2000)}`,
      `Bearer "${admin}"`,
      ...(isRead ? [`Bearer ${recording.events}`] : []),
    ];
    const good = [`bearer ${admin}`, `BEARER   ${admin}`, `Bearer ${readOnly}`, ...ownProject];
    const isKeyed = parts.headers.some(([name]) => name === 'Authorization');
    parts.headers = parts.headers.filter(([name]) => name !== 'Authorization');
    const how = random.weighted({ none: 2, bad: 4, good: 2, both: 1 });
    if (how === 'bad') parts.headers.push(['Authorization', random.pick(bad)]);
    if (how === 'good') parts.headers.push(['Authorization', random.pick(good)]);
    if (how === 'both')
      parts.headers.push(['Authorization', random.pick(bad)], ['Authorization', `Bearer ${admin}`]);
    parts.mustNotEnter = (isKeyed || parts.mustNotEnter) && (how === 'none' || how === 'bad');
  },
  headers(parts, random) {
    const [name, value] = random.pick(HEADERS);
    if (random.oneIn(3))
      parts.headers = parts.headers.filter(([one]) => one.toLowerCase() !== name.toLowerCase());
    parts.headers.push([name, value]);
    if (CLOSING.test(name) || value.length > 8000) parts.alone = true;
  },
  body(parts, random) {
    const body = parts.body ?? Buffer.from(random.pick(ODD_JSON));
    const text = (): string => body.toString('utf8');
    const how = random.weighted({
      json: 6,
      odd: 2,
      bytes: 4,
      cut: 2,
      value: 4,
      gzip: 2,
      twice: 1,
      large: 1,
      drop: 1,
    });
    if (how === 'json') parts.body = breakJson(text(), random);
    else if (how === 'odd') parts.body = Buffer.from(random.pick(ODD_JSON));
    else if (how === 'bytes') parts.body = changeBytes(body, random);
    else if (how === 'cut') parts.body = body.subarray(0, random.int(body.length + 1));
    else if (how === 'value') parts.body = Buffer.from(replaceValue(text(), random));
    else if (how === 'gzip') parts.body = gzipSync(body, { level: 1 });
    else if (how === 'twice') parts.body = Buffer.concat([body, body]);
    else if (how === 'large' && random.oneIn(20))
      parts.body = Buffer.alloc(random.pick([5000, 300_000]), random.pick([' ', '[', '\n', '0']));
    else if (how === 'drop') parts.body = undefined;
  },
};

/** Percent-encodes about half of the characters. */
function percentEncode(segment: string, random: Random): string {
  return [...segment]
    .map((character) =>
      random.oneIn(2) ? `%${character.charCodeAt(0).toString(16).padStart(2, '0')}` : character,
    )
    .join('');
}

function changeBytes(body: Buffer, random: Random): Buffer {
  const bytes = Buffer.from(body);
  for (let left = 1 + random.int(4); left > 0 && bytes.length > 0; left--)
    bytes[random.int(bytes.length)] = random.int(256);
  return bytes;
}

/** Replaces one value in the JSON text. */
function replaceValue(text: string, random: Random): string {
  const values = [...text.matchAll(/"(?:[^"\\]|\\.)*"|-?\d+|true|false|null/g)];
  if (values.length === 0) return text;
  const { index, 0: value } = random.pick(values);
  return text.slice(0, index) + random.pick(ODD_JSON) + text.slice(index + value.length);
}

/** Headers after which the server may close the connection. */
const CLOSING = /^(connection|expect|host|upgrade|transfer-encoding|content-length)$/i;
