/** Downloads the chart as a picture, in the colors on screen. */
import { CALLER_TYPES } from '../../../../../src/domain/queries/caller.js';
import type { CallerType, Project } from '../../../api/types.js';
import { chartImage, type ImageColors, imageSize } from '../../../chart/image.js';
import { span } from '../../../format/dates.js';
import { chartTitle } from '../../../format/intervals.js';
import { saveFile } from '../../../format/save-file.js';
import type { View } from '../../../navigation/view.js';
import type { Numbers } from '../use-numbers.js';
import { choiceName } from './choice-name.js';
import { exportName } from './export.js';

export type ChartFormat = 'png' | 'svg';

interface Exported {
  readonly project: Project;
  readonly view: View;
  readonly numbers: Numbers;
}

/** Pixels of the PNG for each of the SVG: sharp on paper and on dense screens. */
const pngScale = 2;

export async function exportChart(format: ChartFormat, { project, view, numbers }: Exported): Promise<void> {
  const { bars, before, interval, compared, range } = numbers;
  const title = chartTitle(interval);
  const what = view.caller === null ? title : `${title} from ${view.caller}`;
  const svg = chartImage({
    title: project.name,
    subtitle: [what, choiceDates(view, numbers), view.zone.replaceAll('_', ' ')].join(' · '),
    bars,
    before: before.bars,
    beforeName: before.bars === null ? null : (compared?.name ?? null),
    types: CALLER_TYPES.filter((type) => !view.hidden.includes(type)),
    interval,
    zone: view.zone,
    colors: resolveColors(),
  });
  const name = `${exportName(project, view, range, interval)}.${format}`;
  if (format === 'svg') saveFile(name, new Blob([svg], { type: 'image/svg+xml' }));
  else saveFile(name, await toPng(svg));
}

/** The dates of the range, also of one such as the last 30 days. */
function choiceDates({ choice, zone }: View, { range, bars }: Numbers): string {
  const from = range.from ?? bars[0]?.start;
  const to = range.to ?? bars.at(-1)?.end;
  if (from === undefined || to === undefined) return choiceName(choice, zone);
  return span(from, to, zone);
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
