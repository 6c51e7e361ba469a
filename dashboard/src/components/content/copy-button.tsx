/** Copy buttons, and text with a copy button. */
import { Check, Copy, type LucideIcon } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { Button, IconButton } from '../forms/button.js';
import { copyText, reportNotCopied } from './copy.js';
import './copy.css';

/** How long a button shows that it has copied. */
const doneMs = 2_000;

interface Copying {
  readonly isDone: boolean;
  readonly copy: () => void;
  /** Announces success beside the button, because screen readers ignore content outside an open dialog. */
  readonly status: ReactNode;
}

function useCopy(text: string): Copying {
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    if (!isDone) return;
    const timer = setTimeout(() => setDone(false), doneMs);
    return () => clearTimeout(timer);
  }, [isDone]);
  const copy = async (): Promise<void> => {
    const isCopied = await copyText(text);
    setDone(isCopied);
    if (!isCopied) reportNotCopied();
  };
  const status = (
    <span className="out-of-sight" role="status">
      {isDone ? 'Copied' : ''}
    </span>
  );
  return { isDone, copy: () => void copy(), status };
}

interface CopyButtonProps {
  readonly text: string;
  /** The accessible name, such as `Copy project id`. */
  readonly label: string;
  readonly kind?: 'primary' | 'plain' | 'quiet';
  readonly icon?: LucideIcon;
}

export function CopyButton({ text, label, kind = 'plain', icon = Copy }: CopyButtonProps) {
  const { isDone, copy, status } = useCopy(text);
  return (
    <>
      <Button kind={kind} icon={isDone ? Check : icon} onClick={copy}>
        {label}
      </Button>
      {status}
    </>
  );
}

function CopyIcon({ text, label }: { text: string; label: string }) {
  const { isDone, copy, status } = useCopy(text);
  return (
    <>
      <IconButton icon={isDone ? Check : Copy} label={label} onClick={copy} />
      {status}
    </>
  );
}

/** A short text with a copy button, such as an id. */
export function Copied({ text, label }: { text: string; label: string }) {
  return (
    <div className="copied">
      <code>{text}</code>
      <CopyIcon text={text} label={label} />
    </div>
  );
}

/** Lines of code with a copy button. */
export function Code({ text, label }: { text: string; label: string }) {
  return (
    <div className="code">
      <pre tabIndex={0} role="region" aria-label={label.replace(/^Copy /, '')}>
        <code>{text}</code>
      </pre>
      <CopyIcon text={text} label={label} />
    </div>
  );
}
