/** A button that opens a searchable list of options. */
import { Check, Search } from 'lucide-react';
import {
  type KeyboardEvent,
  type ReactNode,
  type Ref,
  useEffect,
  useId,
  useImperativeHandle,
  useRef,
  useState,
} from 'react';
import { filterOptions, type Option } from './picker-filter.js';
import { type Popover, usePopover } from './use-popover.js';
import './popover.css';
import './picker.css';

export interface PickerHandle {
  readonly open: () => void;
}

interface PickerProps {
  /** What the user chooses: `Time zone`. */
  readonly label: string;
  readonly options: readonly Option[];
  /** More options are on their way: Enter waits for them. */
  readonly isLoading?: boolean;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly button: (props: Popover['triggerProps'] & { readonly 'aria-haspopup': 'listbox' }) => ReactNode;
  /** Shown below the list. */
  readonly foot?: ReactNode;
  readonly ref?: Ref<PickerHandle>;
}

export function Picker({ button, foot, ref, onChange, ...list }: PickerProps) {
  const popover = usePopover({ focus: (panel) => panel.querySelector('input') });
  const { isOpen, open } = popover;
  useImperativeHandle(ref, () => ({ open }), [open]);
  const choose = (chosen: string): void => {
    popover.close();
    if (chosen !== list.value) onChange(chosen);
  };
  return (
    <>
      {button({ ...popover.triggerProps, 'aria-haspopup': 'listbox' })}
      <div {...popover.panelProps} className="popover picker">
        {isOpen && <List {...list} onChoose={choose} />}
        {isOpen && foot !== undefined && <div className="picker-foot">{foot}</div>}
      </div>
    </>
  );
}

interface ListProps extends Pick<PickerProps, 'label' | 'options' | 'isLoading' | 'value'> {
  readonly onChoose: (value: string) => void;
}

function List({ label, options, isLoading = false, value, onChoose }: ListProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const [search, setSearch] = useState('');
  const found = filterOptions(options, search);
  // Until the user moves: the selected one, also in a list that is still loading.
  const [moved, setMoved] = useState<number | null>(null);
  const selected = found.findIndex((one) => one.value === value);
  const active = moved ?? Math.max(0, selected);
  const current = found[Math.min(active, found.length - 1)];
  // Somebody who types fast presses Enter before the options are here.
  const [isAwaited, setAwaited] = useState(false);

  useEffect(() => {
    if (!isAwaited || isLoading) return;
    setAwaited(false);
    if (current !== undefined) onChoose(current.value);
  });

  useEffect(() => {
    // When the list opens, it is visible only in the next frame.
    const frame = requestAnimationFrame(() =>
      list.current?.querySelector(`[data-active="${active}"]`)?.scrollIntoView({ block: 'nearest' }),
    );
    return () => cancelAnimationFrame(frame);
  }, [active]);

  const onKeyDown = (event: KeyboardEvent): void => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
    const step = steps[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setMoved(Math.max(0, Math.min(found.length - 1, active + step)));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      setAwaited(true);
    }
  };

  return (
    <>
      <div className="picker-search">
        <Search aria-hidden />
        <input
          type="text"
          role="combobox"
          aria-label={label}
          aria-expanded
          aria-controls={id}
          aria-autocomplete="list"
          aria-activedescendant={current === undefined ? undefined : `${id}-${current.value}`}
          autoComplete="off"
          spellCheck={false}
          placeholder="Search"
          value={search}
          onChange={(event) => {
            setSearch(event.target.value);
            setMoved(0);
            setAwaited(false);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      {found.length === 0 && (
        <p className="picker-none" role="status">
          {isLoading ? 'Loading…' : `Nothing is called “${search}”.`}
        </p>
      )}
      <div
        ref={list}
        className="picker-list"
        id={id}
        role="listbox"
        aria-label={label}
        hidden={found.length === 0}
      >
        {found.map((option, index) => (
          <button
            key={option.value}
            type="button"
            id={`${id}-${option.value}`}
            data-active={index}
            role="option"
            tabIndex={-1}
            aria-selected={option.value === value}
            className={option === current ? 'picker-option picker-active' : 'picker-option'}
            onClick={() => onChoose(option.value)}
            onPointerMove={() => setMoved(index)}
          >
            <span className="picker-name">{option.label}</span>
            {option.note !== undefined && <span className="picker-note numbers">{option.note}</span>}
            {option.value === value && <Check aria-hidden />}
          </button>
        ))}
      </div>
    </>
  );
}
