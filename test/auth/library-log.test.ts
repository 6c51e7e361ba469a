import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createLibraryLog } from '../../src/auth/library-log.js';

test('a message of the sign-in library is one line, whatever it quotes, without its other arguments', () => {
  const lines: string[] = [];
  const log = createLibraryLog(pino({}, { write: (line: string) => lines.push(line) }));
  const write = log as (level: 'error', message: string, ...rest: unknown[]) => void;
  write('error', 'no state: a\r\n{"level":30,"msg":"forged"}\u2028\u001b[2J\u0085b', { password: 'secret' });
  expect(lines).toHaveLength(1);
  const { level, msg } = JSON.parse(lines[0] ?? '');
  expect(level).toBe(50);
  expect(msg).toMatch(/^no state: a \{"level":30,"msg":"forged"\}/);
  expect(msg).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
  expect(lines[0]).not.toContain('secret');
});
