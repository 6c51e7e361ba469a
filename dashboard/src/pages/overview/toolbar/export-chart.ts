/** Downloads the chart as a picture, in the colors on screen. */
import { CALLER_TYPES } from '../../../../../src/domain/queries/caller.js';
import type { CallerType } from '../../../api/types.js';
import { chartImage, type ImageColors, imageSize } from '../../../chart/image.js';
import { choiceName, rangeName } from '../../../format/dates.js';
import { saveFile } from '../../../format/save-file.js';
import { type Exported, exportName } from './export.js';

export type ChartFormat = 'png' | 'svg';

/** Pixels of the PNG for each of the SVG: sharp on paper and on dense screens. */
const pngScale = 2;

export async function exportChart(format: ChartFormat, exported: Exported): Promise<void> {
  const { project, view, numbers } = exported;
  const { buckets, interval, previous } = numbers;
  const title = `Queries per ${interval}`;
  const what = view.caller === null ? title : `${title} from ${view.caller}`;
  const svg = chartImage({
    title: project.name,
    subtitle: [what, datesOf(exported), view.zone.replaceAll('_', ' ')].join(' · '),
    bars: buckets,
    isCompared: view.compare !== null,
    beforeName: view.compare === null || previous === null ? null : rangeName(previous),
    types: CALLER_TYPES.filter((type) => !view.hidden.includes(type)),
    interval,
    colors: resolveColors(),
  });
  const name = `${exportName(exported, interval)}.${format}`;
  if (format === 'svg') saveFile(name, new Blob([svg], { type: 'image/svg+xml' }));
  else saveFile(name, await toPng(svg));
}

/** The dates of the range, also of a period. */
function datesOf({ view: { choice }, numbers: { range, buckets } }: Exported): string {
  const dateFrom = range.dateFrom ?? buckets[0]?.start;
  const dateTo = range.dateTo ?? buckets.at(-1)?.end;
  const isKnown = 'period' in choice && dateFrom !== undefined && dateTo !== undefined;
  return isKnown ? rangeName({ dateFrom, dateTo }) : choiceName(choice);
}

/** The colors of the page's theme as values, because a picture does not know its variables. */
function resolveColors(): ImageColors {
  const probe = document.createElement('span');
  document.body.append(probe);
  const color = (variable: string, className = ''): string => {
    probe.className = className;
    probe.style.color = `var(${variable})`;
    return getComputedStyle(probe).color;
  };
  const ofType = (type: CallerType) => [type, color('--type-color', `type-${type}`)] as const;
  try {
    return {
      surface: color('--surface'),
      ink: color('--ink'),
      ink2: color('--ink-2'),
      line: color('--line'),
      types: Object.fromEntries(CALLER_TYPES.map(ofType)) as Record<CallerType, string>,
    };
  } finally {
    probe.remove();
  }
}

async function toPng(svg: string): Promise<Blob> {
  const image = new Image(imageSize.width, imageSize.height);
  // The Content-Security-Policy allows data URLs as images.
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = imageSize.width * pngScale;
  canvas.height = imageSize.height * pngScale;
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob(
      (blob) => (blob === null ? reject(new Error('no picture was made')) : resolve(blob)),
      'image/png',
    );
  });
}
