/** Parses metrics in Prometheus's text format. */

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Exposition {
  readonly samples: readonly Sample[];
  /** By metric name, without the suffixes of histogram samples. */
  readonly types: ReadonlyMap<string, string>;
  readonly helps: ReadonlyMap<string, string>;
}

const LINE = /^([a-zA-Z_][a-zA-Z0-9_]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"(?:,|$)/gy;

/** Throws for the first invalid line. */
export function readMetrics(text: string): Exposition {
  const samples: Sample[] = [];
  const types = new Map<string, string>();
  const helps = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, kind, name = '', about = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (kind !== undefined) (kind === 'TYPE' ? types : helps).set(name, about);
    else if (line !== '') samples.push(readSample(line));
  }
  return { samples, types, helps };
}

function readSample(line: string): Sample {
  const [, name, labelText = '', value = ''] = LINE.exec(line) ?? [];
  // NaN may be in upper or lower case.
  const number = Number(value.replace('+Inf', 'Infinity'));
  if (name === undefined || (Number.isNaN(number) && !/^nan$/i.test(value)))
    throw new Error(`not a sample: ${line}`);
  const found = [...labelText.matchAll(LABEL)];
  if (found.map(([whole]) => whole).join('') !== labelText) throw new Error(`not labels: ${line}`);
  return {
    name,
    labels: Object.fromEntries(found.map(([, label = '', text = '']) => [label, text])),
    value: number,
  };
}

/** The sum of the samples with this name and these labels. */
export function sumOf({ samples }: Exposition, name: string, labels: Sample['labels'] = {}): number {
  return samples
    .filter((sample) => sample.name === name)
    .filter((sample) => Object.entries(labels).every(([label, text]) => sample.labels[label] === text))
    .reduce((sum, { value }) => sum + value, 0);
}

/** The metric of a sample. */
export function metricOf({ types }: Exposition, sample: string): string {
  const histogram = sample.replace(/_(bucket|sum|count)$/, '');
  return types.get(histogram) === 'histogram' ? histogram : sample;
}
