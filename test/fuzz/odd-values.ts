/** Values that are invalid or unusual where a request contains them. */
import { words } from '../support/words.js';
import { PROJECTS } from './world.js';

export const PATH_SEGMENTS: readonly string[] = [
  ...words(String.raw`
    .. . %2e%2e %2f %00 %zz % %c0%af %ff %e2%82%ac %25 // / ;a=b %20 + * ~ : @ ' \ ( %3F %23
    undefined null __proto__ {projectId} -1
  `),
  PROJECTS.uncounted,
  'a'.repeat(300),
];

export const PARAMETER_NAMES: readonly string[] = [
  ...words(`
    dateFrom dateTo datefrom interval timeZone timezone __proto__ constructor toString a[] a[b] limit
    %64ateFrom dateFrom%00 é %
  `),
  '',
];

export const PARAMETER_VALUES: readonly string[] = [
  ...words(`
    2026-02-30 2026-02-29 0000-01-01 0001-01-01 1800-01-01 9999-12-31T23:59:60Z 2026-01-01T00:00:00+05:30
    2026-01-01T00:00:00%2B05:30 2026-01-01T24:00 2026-W01 20260101 2026-01-01,2026-01-02 now 0 -1 1e400
    %EF%BC%92%EF%BC%90%EF%BC%92%EF%BC%96-01-01 %00 % %ff %f0%9f%98%80 day Day century
    Europe/Berlin europe/berlin Etc/GMT%2B5 %2B05:30 ../../etc/passwd null []
  `),
  '',
  'a'.repeat(500),
  `2026-01-01T00:00:00.${'9'.repeat(400)}Z`,
];

/** Only methods that Node can parse. */
export const METHODS = words(
  'GET HEAD POST PUT PATCH DELETE OPTIONS TRACE PROPFIND PURGE QUERY M-SEARCH REPORT LINK',
);

const HEADER_VALUES: Readonly<Record<string, readonly string[]>> = {
  'Content-Type': [
    ...words('text/plain ; application/x-ndjson application/x-protobuf application/x-www-form-urlencoded'),
    '',
    'application/json, text/plain',
    'application/json; charset=utf-16',
    'multipart/form-data; boundary=a',
    '__proto__',
    `application/json; a=${'b'.repeat(500)}`,
  ],
  'Content-Encoding': ['br', 'gzip, gzip', 'gzip', 'deflate', 'zstd', ''],
  Accept: [
    'text/csv',
    'text/csv;q=0',
    ';;;',
    'a'.repeat(2000),
    '*/*;q=1e400',
    `${'text/csv,'.repeat(300)}*/*`,
  ],
  Host: ['', 'a b', 'other.test:99999', '[::1]'],
  Connection: ['close', 'Upgrade', 'keep-alive, content-type'],
  Upgrade: ['h2c', 'websocket'],
  Expect: ['100-continue', 'tea'],
  'X-Long': ['x'.repeat(15_000), 'x'.repeat(20_000)],
  'X-Forwarded-For': ['x, y, z'],
  'X-HTTP-Method-Override': ['DELETE'],
  'If-None-Match': ['*'],
  'If-Modified-Since': ['Sat, 01 Jan 2050 00:00:00 GMT'],
  Range: ['bytes=0-0', 'bytes=5-1'],
  Cookie: ['caller-stats.session=x', `a=${'b'.repeat(3000)}`],
  Origin: ['https://evil.test'],
  'Sec-Fetch-Site': ['cross-site'],
  'caller-stats-project': ['other', PROJECTS.uncounted, ''],
  ['__proto__']: ['a'],
  constructor: ['a'],
  'X-Bytes': ['\xff\xfe\x80'],
  Referer: ['https://docs.test/\xe9'],
  TE: ['trailers'],
  Trailer: ['Content-Length'],
  Authorization: ['Bearer x'],
  'Proxy-Authorization': ['Basic eA=='],
  'Accept-Version': ['99.0.0'],
  'Access-Control-Request-Method': ['POST'],
  'Max-Forwards': ['0'],
};

export const HEADERS = Object.entries(HEADER_VALUES).flatMap(([name, values]) =>
  values.map((value) => [name, value] as const),
);
