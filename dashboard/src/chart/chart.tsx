/**
 * Bars over time, stacked by caller type. Drawn without a charting library: the smallest suitable one is larger than
 * the rest of the page, and none has a cursor for keyboards and screen readers.
 */

import {
  type PointerEvent,
  type RefObject,
  useEffect,
  useEffectEvent,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react';
import { CALLER_TYPE_NAMES } from '../../../src/domain/queries/caller.js';
import type { Bucket, CallerType, Interval } from '../api/types.js';
import { bucketTitle, incompleteNote } from '../format/dates.js';
import { compact, count } from '../format/numbers.js';
import { type Drawing, type Drawn, draw, sumTypes } from './drawing.js';
import { barBand, indexAt, type Plot } from './layout.js';
import { type Note, notesOf, notesPath } from './notes.js';
import { Tooltip } from './tooltip.js';
import { useSize } from './use-size.js';
import './chart.css';

interface ChartProps extends Drawn {
  readonly label: string;
  readonly notes: readonly Note[];
  /** Zooms into one bar; omitted if the interval cannot be narrower. */
  readonly onPick?: ((bar: Bucket) => void) | undefined;
}

export function Chart({ label, notes, bars, isCompared, types, interval, onPick }: ChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(frame);
  const [cursor, setCursor] = useState<number | null>(null);
  const stripes = useId();

  const drawing = useMemo(
    () => draw({ bars, isCompared, types, interval }, { width, height }),
    [bars, isCompared, types, interval, width, height],
  );
  const noted = useMemo(() => bars.map((one) => notesOf(one, notes)), [bars, notes]);
  const { pointed, touch, release, tap, ...pointer } = usePointedBar(frame, bars.length, drawing.plot);
  const active = pointed ?? cursor;
  const bar = active === null ? undefined : bars[active];
  const pick = (index: number | null): void => {
    const picked = index === null ? undefined : bars[index];
    release();
    if (picked !== undefined) onPick?.(picked);
  };
  const last = bars.length - 1;
  const at = Math.min(cursor ?? last, last);

  return (
    <div ref={frame} className={onPick === undefined ? 'chart' : 'chart chart-picks'}>
      <svg
        {...pointer}
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        aria-hidden
        onClick={() => (touch === null ? pick(pointed) : tap())}
      >
        <Stripes id={stripes} />
        <Axes drawing={drawing} bars={bars.length} />
        {active !== null && bar !== undefined && (
          <Band index={active} bars={bars.length} plot={drawing.plot} />
        )}
        <Bars paths={drawing.paths} stripes={stripes} className="bar" />
        <Bars paths={drawing.incompletePaths} stripes={stripes} className="bar bar-incomplete" />
        <path d={notesPath(noted, drawing.plot)} className="chart-notes" />
        {drawing.line !== '' && (
          <>
            <path d={drawing.line} className="chart-before chart-halo" />
            <path d={drawing.line} className="chart-before" />
          </>
        )}
      </svg>
      <input
        type="range"
        className="chart-cursor"
        aria-label={label}
        aria-valuetext={[describeBar(bars[at], { isCompared, types, interval }), ...(noted[at] ?? [])].join(
          '. ',
        )}
        min={0}
        max={last}
        value={at}
        onChange={(event) => setCursor(event.target.valueAsNumber)}
        onFocus={() => setCursor(at)}
        onBlur={() => setCursor(null)}
        onKeyDown={(event) => event.key === 'Enter' && pick(at)}
      />
      {active !== null && bar !== undefined && (
        <Tooltip
          title={bucketTitle(bar, interval)}
          notes={[incompleteNote(bar) ?? [], noted[active] ?? []].flat()}
          bar={bar}
          types={types}
          before={isCompared ? previousText(bar, types, interval) : null}
          center={barBand(active, bars.length, drawing.plot).center}
          width={width}
          onOpen={touch === 'tapped' && onPick !== undefined ? () => pick(active) : null}
        />
      )}
    </div>
  );
}

/**
 * The bar under the pointer. A finger has no hover: its first tap shows the value, with a button to open the bar. The button
 * appears when the tap has ended, because the tooltip may cover the finger, which would press it.
 */
function usePointedBar(frame: RefObject<HTMLElement | null>, bars: number, plot: Plot) {
  const [pointed, setPointed] = useState<number | null>(null);
  const [touch, setTouch] = useState<'down' | 'tapped' | null>(null);
  const release = (): void => {
    setPointed(null);
    setTouch(null);
  };
  const tap = (): void => setTouch('tapped');
  useOutsidePress(frame, touch !== null, release);
  const point = (event: PointerEvent): void => {
    setTouch(event.pointerType === 'touch' ? 'down' : null);
    const left = frame.current?.getBoundingClientRect().left ?? 0;
    setPointed(indexAt(event.clientX - left, bars, plot));
  };
  const onPointerLeave = (event: PointerEvent): void => {
    if (event.pointerType !== 'touch') release();
  };
  return { pointed, touch, release, tap, onPointerMove: point, onPointerDown: point, onPointerLeave };
}

/** Calls `onPress` when something outside the element is pressed. */
function useOutsidePress(element: RefObject<HTMLElement | null>, isOn: boolean, onPress: () => void): void {
  const press = useEffectEvent(onPress);
  useEffect(() => {
    if (!isOn) return;
    const listen = ({ target }: Event): void => {
      if (!(target instanceof Node && element.current?.contains(target))) press();
    };
    document.addEventListener('pointerdown', listen);
    return () => document.removeEventListener('pointerdown', listen);
  }, [element, isOn]);
}

/** Type other has stripes, because three colors cannot all differ in brightness from each other and from the background. */
function Stripes({ id }: { id: string }) {
  return (
    <pattern id={id} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
      <rect width="1.5" height="6" className="chart-stripe" />
    </pattern>
  );
}

interface BarsProps {
  readonly paths: Drawing['paths'];
  readonly stripes: string;
  readonly className: string;
}

function Bars({ paths, stripes, className }: BarsProps) {
  return paths.map(({ type, path }) => (
    <g key={type}>
      <path d={path} className={`${className} type-${type}`} />
      {type === 'other' && <path d={path} fill={`url(#${stripes})`} />}
    </g>
  ));
}

function Axes({ drawing: { plot, scale, labels }, bars }: { drawing: Drawing; bars: number }) {
  const y = (value: number): number => plot.top + plot.height * (1 - value / scale.max);
  return (
    <g>
      {scale.ticks.map((tick) => (
        <g key={tick}>
          <line
            x1={plot.left}
            x2={plot.left + plot.width}
            y1={Math.round(y(tick))}
            y2={Math.round(y(tick))}
            className={tick === 0 ? 'chart-base' : 'chart-grid'}
          />
          <text x={plot.left - 10} y={y(tick)} dy="0.32em" textAnchor="end">
            {compact(tick)}
          </text>
        </g>
      ))}
      {labels.map(({ index, text }) => (
        <text
          key={index}
          x={barBand(index, bars, plot).center}
          y={plot.top + plot.height + 20}
          textAnchor="middle"
        >
          {text}
        </text>
      ))}
    </g>
  );
}

function Band({ index, bars, plot }: { index: number; bars: number; plot: Plot }) {
  const width = plot.width / bars;
  return (
    <rect
      className="chart-band"
      x={plot.left + width * index}
      y={plot.top}
      width={width}
      height={plot.height}
    />
  );
}

/** What a bar is compared with; null if there is nothing. */
function previousText({ previous }: Bucket, types: readonly CallerType[], interval: Interval) {
  return previous ? { title: bucketTitle(previous, interval), total: sumTypes(previous, types) } : null;
}

/** The label of a bar for screen readers. */
function describeBar(bar: Bucket | undefined, { isCompared, types, interval }: Omit<Drawn, 'bars'>): string {
  if (bar === undefined) return '';
  const parts = types.map((type) => `${CALLER_TYPE_NAMES[type]} ${count(bar[type])}`);
  const before = isCompared ? previousText(bar, types, interval) : null;
  const was = before === null ? '' : `; ${before.title}: ${count(before.total)}`;
  const note = incompleteNote(bar);
  const title = `${bucketTitle(bar, interval)}${note === null ? '' : ` (${note})`}`;
  return `${title}: ${count(sumTypes(bar, types))}. ${parts.join(', ')}${was}`;
}
