/** Buttons, and links that look like them. */
import type { LucideIcon } from 'lucide-react';
import type { ComponentProps, ReactNode } from 'react';
import { Link } from 'wouter';
import './button.css';

/** `primary`: the main action. `plain`: other actions. `quiet`: inconspicuous ones. */
type ButtonKind = 'primary' | 'plain' | 'quiet' | 'danger';

interface Looks {
  readonly kind?: ButtonKind | undefined;
  readonly icon?: LucideIcon | undefined;
  readonly wide?: boolean | undefined;
}

function buttonClass({ kind = 'plain', wide = false }: Looks): string {
  return `button button-${kind}${wide ? ' button-wide' : ''}`;
}

interface ButtonProps extends Looks, Omit<ComponentProps<'button'>, 'className'> {
  /** Ignores clicks while its action is running. */
  readonly busy?: boolean;
  readonly children: ReactNode;
}

export function Button({ kind, icon: Icon, wide, busy = false, children, onClick, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={buttonClass({ kind, wide })}
      aria-busy={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : onClick}
    >
      {Icon !== undefined && <Icon aria-hidden />}
      {children}
    </button>
  );
}

interface IconButtonProps extends Omit<ComponentProps<'button'>, 'className' | 'children'> {
  readonly icon: LucideIcon;
  /** The accessible name and the tooltip. */
  readonly label: string;
  readonly kind?: ButtonKind;
}

export function IconButton({ icon: Icon, label, kind = 'quiet', ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      title={label}
      {...rest}
      className={`${buttonClass({ kind })} button-icon`}
      aria-label={label}
    >
      <Icon aria-hidden />
    </button>
  );
}

interface ButtonLinkProps extends Looks {
  readonly href: string;
  readonly children: ReactNode;
}

/** A link to another page of the dashboard. */
export function ButtonLink({ href, icon: Icon, children, ...looks }: ButtonLinkProps) {
  return (
    <Link href={href} className={buttonClass(looks)}>
      {Icon !== undefined && <Icon aria-hidden />}
      {children}
    </Link>
  );
}

/** A link that leaves the dashboard. */
export function OutwardButton({ href, icon: Icon, children, ...looks }: ButtonLinkProps) {
  return (
    <a href={href} className={buttonClass(looks)}>
      {Icon !== undefined && <Icon aria-hidden />}
      {children}
    </a>
  );
}
