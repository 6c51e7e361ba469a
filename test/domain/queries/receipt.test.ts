import { describe, expect, test } from 'vitest';
import {
  formatDay,
  formatSender,
  isSelected,
  parseExportedQuery,
  parseReceiptFilter,
  RECEIPT_PARAMETER_NAMES,
  type ReceiptInput,
  receiptOf,
} from '../../../src/domain/queries/receipt.js';
import { dayMs } from '../../../src/domain/time/duration.js';

const nowMs = Date.UTC(2026, 10, 26, 12);
const problemsOf = (input: ReceiptInput): readonly string[] => {
  const parsed = parseReceiptFilter(input, RECEIPT_PARAMETER_NAMES);
  return parsed.ok ? [] : parsed.problems;
};

describe('a filter refuses', () => {
  test.each<[ReceiptInput, string]>([
    [{ recordedFrom: 'soon' }, 'recordedFrom: '],
    [
      { recordedTo: '2026-01-31T00:00:00.001Z' },
      'recordedTo: "2026-01-31T00:00:00.001Z" is not the start of a UTC day',
    ],
    [{ recordedTo: '2026-01-31T00:00:00+01:00' }, 'is not the start of a UTC day'],
    [{ recordedFrom: '2026-02-01', recordedTo: '2026-01-31' }, 'recordedFrom: is later than recordedTo'],
    [{ recordedBy: '' }, 'recordedBy: '],
    [{ recordedBy: 'a\nb' }, 'recordedBy: '],
    [{ recordedBy: 'a'.repeat(201) }, 'recordedBy: '],
  ])('%j', (input, problem) => {
    expect(problemsOf(input).join()).toContain(problem);
  });

  test('with every problem', () => {
    expect(problemsOf({ recordedFrom: 'x', recordedTo: 'y', recordedBy: '' })).toHaveLength(3);
  });
});

describe('an exported query is refused', () => {
  test.each<[object, string]>([
    [{ recordedOn: '2026-02-30', recordedBy: 'copy' }, 'recordedOn: '],
    [{ recordedOn: '2026-01-31T00:00:00Z', recordedBy: 'copy' }, 'recordedOn: '],
    [{ recordedOn: 5, recordedBy: 'copy' }, 'recordedOn: '],
    [{ recordedOn: '2026-11-29', recordedBy: 'copy' }, 'recordedOn: lies in the future'],
    [{ recordedOn: '2026-01-31' }, 'recordedBy: '],
    [{ recordedOn: '2026-01-31', recordedBy: 5 }, 'recordedBy: '],
    [{ recordedBy: 'copy' }, 'recordedOn: '],
    [{ recordedOn: null, recordedBy: null, id: 5 }, 'id: '],
    [{ recordedOn: null, recordedWhen: 1 }, 'recordedWhen'],
  ])('with %j', (fields, problem) => {
    const parsed = parseExportedQuery({ id: 'a', caller: 'web', ...fields }, nowMs);
    expect(parsed.ok ? '' : parsed.problems.join()).toContain(problem);
  });
});

test('an exported query keeps how it arrived', () => {
  const query = { id: 'a', caller: 'web', occurredAt: '2026-01-01T00:00:00Z' };
  const parsed = parseExportedQuery({ ...query, recordedOn: '2026-01-31', recordedBy: 'key:k' }, nowMs);
  const receipt = { day: Date.UTC(2026, 0, 31) / dayMs, sender: 'key:k' };
  expect(parsed).toMatchObject({ ok: true, value: { id: 'a', receipt } });
  expect(parseExportedQuery({ ...query, recordedOn: null, recordedBy: '' }, nowMs)).toMatchObject({
    value: { receipt: null },
  });
  expect(parseExportedQuery(query, nowMs)).toEqual({
    ok: true,
    value: { id: 'a', caller: 'web', occurredAt: Date.UTC(2026, 0, 1) },
  });
  expect(formatDay(receipt.day)).toBe('2026-01-31');
});

test('a sender is one short text without control characters, and its files without folders', () => {
  const key = { kind: 'telemetry', keyId: 'k', service: 'the\nsite: \ud800' } as const;
  expect(formatSender(key)).toBe('telemetry:k:the site: \ufffd');
  const files = ['/data/of ada/a.csv', '-', 'C:\\data\\b.csv', 'https://example.com/v1/c'];
  expect(formatSender({ kind: 'import', files })).toBe('import:a.csv,-,b.csv,c');
  expect([...formatSender({ ...key, service: '😀'.repeat(500) })]).toHaveLength(200);
  expect(receiptOf({ kind: 'key', keyId: 'k' }, -1)).toEqual({ day: -1, sender: 'key:k' });
});

describe('a filter selects', () => {
  const receipts = {
    none: null,
    key: { day: 5, sender: 'key:k' },
    service: { day: 6, sender: 'telemetry:k:a:b' },
    file: { day: 7, sender: 'import:k' },
    copy: { day: 8, sender: 'copy' },
  };
  const day = (number: number) => formatDay(number);

  test.each<[ReceiptInput, string]>([
    [{}, 'none,key,service,file,copy'],
    [{ recordedFrom: day(6) }, 'service,file,copy'],
    [{ recordedTo: day(6) }, 'key'],
    [{ recordedFrom: day(6), recordedTo: `${day(7)}T00:00Z` }, 'service'],
    [{ recordedBy: 'key:k' }, 'key,service'],
    [{ recordedBy: 'telemetry:a:b' }, 'service'],
    [{ recordedBy: 'telemetry:k:a:b' }, 'service'],
    [{ recordedBy: 'telemetry' }, 'service'],
    [{ recordedBy: 'telemetry:b' }, ''],
    [{ recordedBy: 'key' }, ''],
    [{ recordedBy: 'import:k' }, 'file'],
    [{ recordedBy: 'import', recordedTo: day(7) }, ''],
    [{ recordedBy: 'unknown' }, 'none'],
    [{ recordedBy: 'unknown', recordedTo: day(9) }, ''],
  ])('%j: %s', (input, names) => {
    const filter = parseReceiptFilter(input, RECEIPT_PARAMETER_NAMES);
    if (!filter.ok) throw new Error(filter.problems.join());
    const selected = Object.entries(receipts).filter(([, receipt]) => isSelected(receipt, filter.value));
    expect(selected.map(([name]) => name).join()).toBe(names);
  });
});
