/** The field for choosing a new password. */
import { useState } from 'react';
import { passwordCharactersMax, passwordCharactersMin } from '../../../../src/domain/limits.js';
import { Check, TextField } from './field.js';

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
        maxLength={passwordCharactersMax}
        spellCheck={false}
        required
        hint={`At least ${passwordCharactersMin} characters. A few words that nobody else would put together are best.`}
      />
      <Check label="Show password" checked={isShown} onChange={(event) => setShown(event.target.checked)} />
    </>
  );
}
