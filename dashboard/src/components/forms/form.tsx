/** A form that shows each error next to the field it is about. */
import {
  type ComponentProps,
  type ReactNode,
  type RefObject,
  type SubmitEvent,
  useEffect,
  useRef,
  useState,
} from 'react';
import { ApiError } from '../../api/client.js';
import { refreshSession } from '../../api/session.js';
import { Failure } from '../feedback/notice.js';
import { toast } from '../feedback/toasts.js';
import { Button } from './button.js';
import { ProblemsContext } from './form-state.js';
import { sortDetails } from './sort-details.js';

interface FormProps {
  /** Submits the form. Thrown errors are shown. */
  readonly onSend: (data: FormData) => Promise<unknown>;
  /** The message after success. */
  readonly done?: string;
  /** Messages by status that replace the server's. */
  readonly messages?: Readonly<Record<number, string>>;
  /** The accessible name. */
  readonly label: string;
  /** The label of the submit button, to which `kind`, `wide` and `disabled` apply, too. */
  readonly submit: string;
  readonly kind?: ComponentProps<typeof Button>['kind'];
  readonly wide?: boolean;
  readonly disabled?: boolean;
  /** Disables the submit button until a field differs from what is saved. */
  readonly needsChange?: boolean;
  /** Adds a Cancel button. */
  readonly onCancel?: () => void;
  /** The fields. */
  readonly children?: ReactNode;
}

export function Form(props: FormProps) {
  const { onSend, done, messages = {}, children, label, submit, kind, needsChange = false, onCancel } = props;
  const { wide = false, disabled = false } = props;
  const form = useRef<HTMLFormElement>(null);
  const { isChanged, look, keep } = useChanges(form, needsChange);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map());

  const send = async (event: SubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    try {
      await onSend(new FormData(event.currentTarget));
      if (done !== undefined) toast(done);
      keep();
      setError(null);
      setProblems(new Map());
    } catch (thrown) {
      // A wrong password, or an expired session: reloading the session then redirects to the sign-in page.
      if (thrown instanceof ApiError && thrown.status === 401) void refreshSession();
      const failure = sorted(thrown, fieldNames(form.current), messages);
      setError(failure.error);
      setProblems(failure.problems);
    } finally {
      setBusy(false);
    }
  };

  useEffect(() => {
    if (problems.size > 0) form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus();
  }, [problems]);

  const button = (
    <Button
      type="submit"
      kind={kind}
      wide={wide}
      busy={isBusy}
      disabled={disabled || (needsChange && !isChanged)}
    >
      {submit}
    </Button>
  );
  return (
    <ProblemsContext value={problems}>
      <form
        ref={form}
        className="stack"
        aria-label={label}
        onInput={look}
        onSubmit={(event) => void send(event)}
      >
        {error !== null && <Failure error={error} />}
        {children}
        {wide ? (
          button
        ) : (
          <div className={onCancel ? 'dialog-buttons' : 'row'}>
            {onCancel && <Button onClick={onCancel}>Cancel</Button>}
            {button}
          </div>
        )}
      </form>
    </ProblemsContext>
  );
}

/** Whether the fields differ from what was saved last. */
function useChanges(form: RefObject<HTMLFormElement | null>, isWatched: boolean) {
  const saved = useRef<string | null>(null);
  const [isChanged, setChanged] = useState(false);
  const look = (): void => {
    if (!isWatched) return;
    saved.current ??= valuesOf(form.current);
    setChanged(saved.current !== valuesOf(form.current));
  };
  const keep = (): void => {
    saved.current = null;
    look();
  };
  // After each rendering, because a choice may add or remove fields.
  useEffect(look);
  return { isChanged, look, keep };
}

function valuesOf(form: HTMLFormElement | null): string {
  return form === null ? '' : JSON.stringify([...new FormData(form)]);
}

function fieldNames(form: HTMLFormElement | null): string[] {
  return [...(form?.elements ?? [])].map((element) => element.getAttribute('name') ?? '');
}

function sorted(
  thrown: unknown,
  fields: readonly string[],
  messages: Readonly<Record<number, string>>,
): { error: Error | null; problems: ReadonlyMap<string, string> } {
  if (!(thrown instanceof ApiError))
    return { error: thrown instanceof Error ? thrown : new Error(String(thrown)), problems: new Map() };
  const { problems, rest } = sortDetails(thrown.details, fields);
  if (problems.size > 0 && rest.length === 0) return { error: null, problems };
  const message = messages[thrown.status] ?? thrown.message;
  return { error: new ApiError({ status: thrown.status, message, details: rest }), problems };
}

/** The trimmed value of a text field. */
export function getText(data: FormData, name: string): string {
  return String(data.get(name) ?? '').trim();
}

/** The value of a password field, untrimmed. */
export function getPassword(data: FormData, name: string): string {
  return String(data.get(name) ?? '');
}

/** The entries of a field that takes several, with spaces, commas or line breaks between them. */
export function getEntries(data: FormData, name: string): readonly string[] {
  return getText(data, name)
    .split(/[\s,]+/)
    .filter((entry) => entry !== '');
}
