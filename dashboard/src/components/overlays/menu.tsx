/** A button that opens a menu of actions. */
import type { LucideIcon } from 'lucide-react';
import type { KeyboardEvent, ReactNode } from 'react';
import { type Popover, usePopover } from './use-popover.js';
import './popover.css';
import './menu.css';

type MenuItem =
  | {
      readonly label: string;
      readonly icon?: LucideIcon;
      readonly danger?: boolean;
      readonly onSelect: () => void;
    }
  | { readonly label: string; readonly icon?: LucideIcon; readonly href: string }
  | { readonly heading: string }
  | 'line';

interface MenuProps {
  readonly label: string;
  readonly items: readonly MenuItem[];
  readonly align?: 'start' | 'end';
  /** Renders the button, which must spread the given props. */
  readonly button: (props: Popover['triggerProps'] & { readonly 'aria-haspopup': 'menu' }) => ReactNode;
}

export function Menu({ label, items, align = 'end', button }: MenuProps) {
  const popover = usePopover({ align, focus: (panel) => menuItems(panel)[0] });
  const { isOpen, panel, close } = popover;

  return (
    <>
      {button({ ...popover.triggerProps, 'aria-haspopup': 'menu' })}
      <div
        {...popover.panelProps}
        className="popover menu"
        role="menu"
        aria-label={label}
        tabIndex={-1}
        onKeyDown={(event) => move(event, panel.current, close)}
      >
        {isOpen && items.map((item) => <Item key={itemName(item, items)} item={item} close={close} />)}
      </div>
    </>
  );
}

function Item({ item, close }: { item: MenuItem; close: () => void }) {
  if (item === 'line') return <hr className="menu-line" />;
  if ('heading' in item)
    return (
      <div className="menu-heading" role="presentation">
        {item.heading}
      </div>
    );
  const Icon = item.icon;
  const content = (
    <>
      {Icon !== undefined && <Icon aria-hidden />}
      {item.label}
    </>
  );
  if ('href' in item)
    return (
      <a href={item.href} role="menuitem" tabIndex={-1} className="menu-item">
        {content}
      </a>
    );
  return (
    <button
      type="button"
      role="menuitem"
      tabIndex={-1}
      className={item.danger === true ? 'menu-item menu-danger' : 'menu-item'}
      onClick={() => {
        close();
        item.onSelect();
      }}
    >
      {content}
    </button>
  );
}

function itemName(item: MenuItem, items: readonly MenuItem[]): string {
  if (item === 'line') return `line ${items.indexOf(item)}`;
  return 'heading' in item ? `heading ${item.heading}` : item.label;
}

function menuItems(panel: HTMLElement | null): HTMLElement[] {
  return [...(panel?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? [])];
}

/** Arrow keys, Home and End move through the items; a letter jumps to the next item that starts with it; Tab closes. */
function move(event: KeyboardEvent, panel: HTMLElement | null, close: () => void): void {
  const items = menuItems(panel);
  const at = items.indexOf(document.activeElement as HTMLElement);
  const next = nextIndex(event.key, at, items);
  if (event.key === 'Tab') close();
  if (next === undefined) return;
  event.preventDefault();
  items.at(next % items.length)?.focus();
}

function nextIndex(key: string, at: number, items: readonly HTMLElement[]): number | undefined {
  if (key === 'ArrowDown') return at + 1;
  if (key === 'ArrowUp') return Math.max(at, 0) - 1;
  if (key === 'Home') return 0;
  if (key === 'End') return -1;
  if (key.length !== 1 || key === ' ') return undefined;
  const begins = (item: HTMLElement): boolean => item.textContent.toLowerCase().startsWith(key.toLowerCase());
  const after = items.findIndex((item, index) => index > at && begins(item));
  const found = after === -1 ? items.findIndex(begins) : after;
  return found === -1 ? undefined : found;
}
