/**
 * The statements of the PostgreSQL store, except those of its migrations and of `src/storage/sql/`.
 * `test/program/postgres/shards.test.ts` checks all of them.
 */
import { correctionStatements } from './corrections.js';
import { countingStatements } from './counting.js';
import { projectStatements } from './projects.js';
import { recordingStatements } from './recording.js';
import { removalStatements } from './removal.js';
import { retentionStatements } from './retention.js';
import { verificationStatements } from './verification.js';

/** The texts of all statements, for tables in `schema`. */
export function statementsIn(schema: string) {
  return {
    ...projectStatements(schema),
    ...countingStatements(schema),
    ...recordingStatements(schema),
    ...correctionStatements(schema),
    ...removalStatements(schema),
    ...retentionStatements(schema),
    ...verificationStatements(schema),
  };
}

export type Statements = ReturnType<typeof statementsIn>;
export type StatementName = keyof Statements;
