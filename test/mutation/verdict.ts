/**
 * What a run of mutation tests says: which mutants no test noticed, and whether each of those is explained. A mutant is
 * known by its file, the line that it begins in and what it puts there, not by a number of a line: those move.
 */

/** The part of Stryker's JSON report (mutation-testing-report-schema) that is read here. */
export interface Report {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>>;
}

interface Position {
  /** From 1 on, like `column`. */
  readonly line: number;
  readonly column: number;
}

interface Mutant {
  readonly mutatorName: string;
  readonly status: string;
  readonly replacement?: string;
  readonly location: { readonly start: Position; readonly end: Position };
}

/** A mutant that no test can, or needs to, notice. `why` is a sentence: it is equivalent, or it cannot matter. */
export interface Explained extends Survivor {
  readonly why: string;
}

export interface Survivor {
  readonly file: string;
  /** Stryker's name of the kind of mutant. */
  readonly mutator: string;
  /** The whole line that it begins in, without the white space around it. */
  readonly line: string;
  /** What it replaces, white space in it made single blanks. */
  readonly original: string;
  /** What stands there instead; the same. */
  readonly replacement: string;
}

export interface Verdict {
  /** Mutants that were tested: all but those that were left out, or do not even load. */
  readonly mutants: number;
  readonly killed: number;
  readonly explained: number;
  /** Those that survived and are not explained. */
  readonly unexplained: readonly Survivor[];
  /** Those of the list that are not there any more, or are killed. */
  readonly outdated: readonly Explained[];
  /** Killed of those that are not explained, from 0 to 1. */
  readonly share: number;
}

const KILLED = ['Killed', 'Timeout'];
const SURVIVED = ['Survived', 'NoCoverage'];

/** Holds a report against the list. Entries of the list for files that the report does not have are not judged. */
export function verdictOf(report: Report, list: readonly Explained[]): Verdict {
  const all = Object.entries(report.files).flatMap(([file, { source, mutants }]) =>
    mutants.map((mutant) => ({ status: mutant.status, survivor: survivorOf(file, source, mutant) })),
  );
  const killed = all.filter(({ status }) => KILLED.includes(status)).length;
  const survivors = all.filter(({ status }) => SURVIVED.includes(status)).map(({ survivor }) => survivor);
  const keys = new Set(survivors.map(keyOf));
  const explained = new Set(list.map(keyOf));
  const unexplained = survivors.filter((one) => !explained.has(keyOf(one)));
  const judged = killed + unexplained.length;
  return {
    mutants: killed + survivors.length,
    killed,
    explained: survivors.length - unexplained.length,
    unexplained,
    outdated: list.filter((one) => one.file in report.files && !keys.has(keyOf(one))),
    share: judged === 0 ? 1 : killed / judged,
  };
}

function keyOf({ file, mutator, line, original, replacement }: Survivor): string {
  return JSON.stringify([file, mutator, line, original, replacement]);
}

function survivorOf(file: string, source: string, { mutatorName, replacement, location }: Mutant): Survivor {
  const { start, end } = location;
  const lines = source.split('\n').slice(start.line - 1, end.line);
  const line = (lines[0] ?? '').trim();
  // From the end first: the last line may be the first one, too.
  lines[lines.length - 1] = lines.at(-1)?.slice(0, end.column - 1) ?? '';
  lines[0] = lines[0]?.slice(start.column - 1) ?? '';
  const [original, instead] = [lines.join('\n'), replacement ?? ''].map((text) =>
    text.replaceAll(/\s+/g, ' '),
  );
  return { file, mutator: mutatorName, line, original: original ?? '', replacement: instead ?? '' };
}
