/** The fields for passwords: the current one, and a new one. */
import { useState } from 'react';
import { passwordCharactersMin } from '../../../../src/domain/limits.js';
import { Check, TextField } from './field.js';

interface CurrentPasswordProps {
  readonly label?: string;
  readonly name?: string;
  readonly hint?: string;
}

export function CurrentPassword({ label = 'Your password', name = 'password', hint }: CurrentPasswordProps) {
  return (
    <TextField
      label={label}
      name={name}
      type="password"
      autoComplete="current-password"
      required
      hint={hint}
    />
  );
}

interface NewPasswordProps {
  readonly label?: string;
  readonly name?: string;
}

export function NewPassword({ label = 'Password', name = 'password' }: NewPasswordProps) {
  const [isShown, setShown] = useState(false);
  return (
    <>
      <TextField
        label={label}
        name={name}
        type={isShown ? 'text' : 'password'}
        autoComplete="new-password"
        minLength={passwordCharactersMin}
        spellCheck={false}
        required
        hint={`At least ${passwordCharactersMin} characters. Several unrelated words make a good password.`}
      />
      <Check label="Show password" checked={isShown} onChange={(event) => setShown(event.target.checked)} />
    </>
  );
}
