/** The chart as an SVG image that stands alone: its colors are values, and title, range and legend are inside. */
import { CALLER_TYPE_NAMES } from '../../../src/domain/queries/caller.js';
import type { CallerType } from '../api/types.js';
import { compact } from '../format/numbers.js';
import { type Drawing, type Drawn, draw } from './drawing.js';
import { barBand } from './layout.js';

export interface ImageColors {
  readonly surface: string;
  readonly ink: string;
  readonly ink2: string;
  readonly line: string;
  readonly types: Readonly<Record<CallerType, string>>;
}

export interface ChartImage extends Drawn {
  readonly title: string;
  readonly subtitle: string;
  /** The name of the dashed line; null if there is none. */
  readonly beforeName: string | null;
  readonly colors: ImageColors;
}

/** The ratio suits slides and documents. */
export const imageSize = { width: 1200, height: 640 } as const;

const margin = 32;
const chartTop = 136;
const titleCharactersMax = 80;

export function chartImage(image: ChartImage): string {
  const { title, subtitle, colors } = image;
  const { width, height } = imageSize;
  const size = { width: width - 2 * margin, height: height - chartTop - margin / 2 };
  const drawing = draw(image, size);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeXml(`${title}: ${subtitle}`)}" font-family="system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif">
<defs><pattern id="stripes" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="1.5" height="6" fill="${colors.surface}" fill-opacity="0.35"/></pattern></defs>
<rect width="${width}" height="${height}" fill="${colors.surface}"/>
<text x="${margin}" y="52" font-size="24" font-weight="600" fill="${colors.ink}">${escapeXml(shorten(title))}</text>
<text x="${margin}" y="80" font-size="15" fill="${colors.ink2}">${escapeXml(subtitle)}</text>
${legend(image)}
<g transform="translate(${margin} ${chartTop})">
${axes(drawing, image)}
${drawing.paths.map((one) => bars(one, colors, '')).join('\n')}
${drawing.incompletePaths.map((one) => bars(one, colors, incompleteLook(colors.types[one.type]))).join('\n')}
${drawing.line === '' ? '' : beforeLine(drawing.line, colors)}
</g>
</svg>
`;
}

function incompleteLook(color: string): string {
  return ` fill-opacity="0.35" stroke="${color}" stroke-width="1.5"`;
}

function bars({ type, path }: Drawing['paths'][number], { types }: ImageColors, look: string): string {
  if (path === '') return '';
  const striped = type === 'other' ? `<path d="${path}" fill="url(#stripes)"/>` : '';
  return `<path d="${path}" fill="${types[type]}"${look}/>${striped}`;
}

function beforeLine(line: string, { ink, surface }: ImageColors): string {
  const look = 'fill="none" stroke-linejoin="round"';
  return `<path d="${line}" ${look} stroke="${surface}" stroke-width="4" opacity="0.85"/><path d="${line}" ${look} stroke="${ink}" stroke-width="1.5" stroke-dasharray="4 3"/>`;
}

function axes({ plot, scale, labels }: Drawing, { bars: all, colors }: ChartImage): string {
  const bottom = plot.top + plot.height;
  const ticks = scale.ticks.map((tick) => {
    const y = Math.round(bottom - (tick / scale.max) * plot.height);
    return `<line x1="${plot.left}" x2="${plot.left + plot.width}" y1="${y}" y2="${y}" stroke="${colors.line}"/><text x="${plot.left - 10}" y="${y + 4}" text-anchor="end">${escapeXml(compact(tick))}</text>`;
  });
  const below = labels.map(({ index, text }) => {
    const x = barBand(index, all.length, plot).center.toFixed(1);
    return `<text x="${x}" y="${bottom + 20}" text-anchor="middle">${escapeXml(text)}</text>`;
  });
  return `<g font-size="12" fill="${colors.ink2}">${[...ticks, ...below].join('')}</g>`;
}

function legend({ types, bars: all, beforeName, colors }: ChartImage): string {
  const swatch = (fill: string): string => `<rect y="-10" width="11" height="11" rx="3" fill="${fill}"/>`;
  const mark = (type: CallerType): string =>
    swatch(colors.types[type]) + (type === 'other' ? swatch('url(#stripes)') : '');
  const entries = types.map((type) => [mark(type), CALLER_TYPE_NAMES[type]] as const);
  if (beforeName !== null)
    entries.push([
      `<path d="M-2 -4h15" stroke="${colors.ink}" stroke-width="2" stroke-dasharray="4 3"/>`,
      beforeName,
    ]);
  if (all.some(({ incomplete }) => incomplete !== undefined))
    entries.push([
      `<rect y="-10" width="11" height="11" rx="2" fill="none" stroke="${colors.ink2}" stroke-width="1.5"/>`,
      'Outlined: incomplete',
    ]);
  let x = margin;
  const placed = entries.map(([drawn, name]) => {
    const left = x;
    // Wide enough for any font.
    x += name.length * 8.5 + 44;
    return `<g transform="translate(${left.toFixed(0)} 112)">${drawn}<text x="19">${escapeXml(name)}</text></g>`;
  });
  return `<g font-size="14" fill="${colors.ink}">${placed.join('')}</g>`;
}

function shorten(text: string): string {
  const characters = [...text];
  return characters.length > titleCharactersMax
    ? `${characters.slice(0, titleCharactersMax - 1).join('')}…`
    : text;
}

function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
