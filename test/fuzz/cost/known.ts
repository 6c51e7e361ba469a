/** Inputs that once held a server for seconds. */
import type { Edit, Input } from './edits.js';

const edit = (path: string, shape: Edit['shape'], count: number, unit: Edit['unit'] = 'x'): Edit => ({
  path: path.split('/'),
  shape,
  count,
  unit,
});
const packed = (chain: readonly string[], ...edits: readonly Edit[]): Input => ({
  chain,
  edits,
  isPacked: true,
});

const spans = '0/body/resourceSpans/0/scopeSpans/0/spans/0';
const service = '0/body/resourceSpans/0/resource/attributes/0/value/stringValue';

/** Of a project with a long history. */
const past = [
  ...['history 1: caller-stats', 'history 3: callers', 'history 4: changes', 'history 5: queries'],
  ...['history 6: imported-counts/cuts', 'history 7: imported-counts/cuts', 'history 8: corrections'],
].map((operation): Input => ({ chain: [operation], edits: [], isPacked: false }));

export const KNOWN_INPUTS: readonly Input[] = [
  packed(['spans'], edit(service, 'text', 4_500_000, 'x'), edit(spans, 'items', 1000)),
  packed(['spans in protobuf', 'spans'], edit(spans, 'items', 4900)),
  packed(['query lines'], edit('0/body/0', 'items', 150), edit('0/body/0/id', 'arrays', 32_000)),
  packed(
    ['rules, then spans'],
    edit('0/body/otlpQuery', 'text', 1000, 'default;'),
    edit('1/body/resourceSpans/0/scopeSpans/0/spans/1', 'items', 8000),
  ),
  packed(['origins, then pages'], edit('0/body/otlpSiteOrigins', 'text', 1000, 'http://*.a,')),
  // Longer to decode than to parse.
  packed(['queries'], edit('0/body/0/id', 'text', 5_200_000, 'é')),
  packed(['spans'], edit(service, 'text', 8_000_000, 'é')),
  packed(['spans'], edit(service, 'text', 8_000_000, '\n\n\n\n\n\n\n\n\né')),
  { ...packed(['tools'], edit('0/body', 'list', 100)), isPacked: false },
  packed(['tokens'], edit('0/body/2', 'items', 8000)),
  packed(['pipelined'], edit('0/body/0', 'items', 10_000)),
  ...past,
];
