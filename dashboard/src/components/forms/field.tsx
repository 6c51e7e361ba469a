/** Form fields with label, hint and error message. */
import { CircleAlert } from 'lucide-react';
import { type ComponentProps, type ReactNode, useId } from 'react';
import { nameCharactersMax } from '../../../../src/domain/limits.js';
import { useProblem } from './form-state.js';
import './field.css';

interface Labelled {
  readonly label: string;
  /** Also the field's name in the server's error details. */
  readonly name: string;
  readonly hint?: ReactNode;
  readonly optional?: boolean;
}

interface Wiring {
  readonly id: string;
  readonly name: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': true | undefined;
}

function Field({
  label,
  name,
  hint,
  optional = false,
  children,
}: Labelled & { children: (wiring: Wiring) => ReactNode }) {
  const id = useId();
  const problem = useProblem(name);
  const described = [hint === undefined ? '' : `${id}-hint`, problem === undefined ? '' : `${id}-problem`];
  return (
    <div className="field">
      <label className="field-label" htmlFor={id}>
        {label}
        {optional && <span className="field-optional"> (optional)</span>}
      </label>
      {children({
        id,
        name,
        'aria-describedby': described.filter((one) => one !== '').join(' ') || undefined,
        'aria-invalid': problem === undefined ? undefined : true,
      })}
      {problem !== undefined && (
        <p className="field-error" id={`${id}-problem`}>
          <CircleAlert aria-hidden />
          {problem}
        </p>
      )}
      {hint !== undefined && (
        <p className="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

type TextFieldProps = Labelled & Omit<ComponentProps<'input'>, 'className' | 'name'> & { mono?: boolean };

export function TextField({ label, name, hint, optional, mono = false, ...rest }: TextFieldProps) {
  return (
    <Field label={label} name={name} hint={hint} optional={optional ?? false}>
      {(wiring) => <input {...rest} {...wiring} className={mono ? 'input input-mono' : 'input'} />}
    </Field>
  );
}

/** The name of something that users create. */
export function NameField(props: Partial<TextFieldProps>) {
  return (
    <TextField
      label="Name"
      name="name"
      maxLength={nameCharactersMax}
      autoComplete="off"
      required
      {...props}
    />
  );
}

type TextAreaProps = Labelled & Omit<ComponentProps<'textarea'>, 'className' | 'name'>;

export function TextArea({ label, name, hint, optional, ...rest }: TextAreaProps) {
  return (
    <Field label={label} name={name} hint={hint} optional={optional ?? false}>
      {(wiring) => <textarea {...rest} {...wiring} className="input input-mono" />}
    </Field>
  );
}

type SelectFieldProps = Labelled & Omit<ComponentProps<'select'>, 'className' | 'name'>;

export function SelectField({ label, name, hint, optional, children, ...rest }: SelectFieldProps) {
  return (
    <Field label={label} name={name} hint={hint} optional={optional ?? false}>
      {(wiring) => (
        <select {...rest} {...wiring} className="input">
          {children}
        </select>
      )}
    </Field>
  );
}

interface CheckProps extends Omit<ComponentProps<'input'>, 'className' | 'type'> {
  readonly label: string;
  readonly hint?: ReactNode;
}

export function Check({ label, hint, ...rest }: CheckProps) {
  const id = useId();
  return (
    <label className="check">
      <input type="checkbox" {...rest} aria-describedby={hint === undefined ? undefined : id} />
      <span>
        {label}
        {hint !== undefined && (
          <span className="check-hint" id={id}>
            {hint}
          </span>
        )}
      </span>
    </label>
  );
}

interface ChoiceProps extends Omit<ComponentProps<'input'>, 'className' | 'type'> {
  readonly label: string;
  readonly hint: ReactNode;
}

/** A radio button with a description. Use it inside `Choices`. */
export function Choice({ label, hint, ...rest }: ChoiceProps) {
  const id = useId();
  return (
    <label className="choice">
      <input type="radio" {...rest} aria-label={label} aria-describedby={id} />
      <span>
        <span className="choice-name">{label}</span>
        <span className="check-hint" id={id}>
          {hint}
        </span>
      </span>
    </label>
  );
}

export function Choices({ legend, children }: { legend: string; children: ReactNode }) {
  return (
    <fieldset>
      <legend className="field-label">{legend}</legend>
      <div className="choices choices-pair">{children}</div>
    </fieldset>
  );
}
