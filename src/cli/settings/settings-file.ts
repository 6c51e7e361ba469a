/** The file of `--settings`: the variables of a service, so that commands have the same settings. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { CallerStatsError } from '../../domain/errors.js';
import { adviceFor, regularStatsOf } from '../../storage/files.js';
import { UsageError } from '../io.js';

/** What this program, systemd and a shell read alike: a value has no quotes inside, nothing to escape, nothing to replace. */
const line = /^(?<name>[A-Za-z_]\w*)=(?:'(?<single>[^'\\]*)'|"(?<double>[^"\\$`]*)"|(?<plain>[^'"\\$`\s]*))$/;

/** Reads lines `NAME=value`. Throws `not_found`, `unavailable`, or a `UsageError` with each line that is not one. Never shows a value. */
export function readSettingsFile(file: string): Record<string, string> {
  const variables: Record<string, string> = {};
  const problems: string[] = [];
  for (const [index, text] of readText(file).split('\n').entries()) {
    const trimmed = text.trim();
    if (trimmed === '' || /^[#;]/.test(trimmed)) continue;
    const { name, single, double, plain } = line.exec(trimmed)?.groups ?? {};
    if (name !== undefined) variables[name] = single ?? double ?? plain ?? '';
    else
      problems.push(
        `${file}: line ${index + 1} is not NAME=value; quote a value with spaces, and write \\, quotes and $ of a URL as %5C, ` +
          '%22, %27 and %24',
      );
  }
  if (problems.length > 0) throw new UsageError(problems);
  return variables;
}

function readText(file: string): string {
  regularStatsOf(file);
  try {
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT')
      throw new CallerStatsError('not_found', `There is no file ${resolve(file)}; --settings names it.`);
    const message = `${resolve(file)} cannot be read: ${adviceFor(cause)}.`;
    throw new CallerStatsError('unavailable', message, { cause });
  }
}
