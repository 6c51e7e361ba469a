/**
 * On a cluster, the table `project_copy` of the coordinator has the projects that are not deleted. The rows of `project` are on
 * workers, and asking them would take longer than all else that the look-up of a key does. `distribute` makes the table.
 */
import type { Session } from '../sql/session.js';
import type { Statements } from './statements/statements.js';

/**
 * Brings the copy of a project up to date, which the transaction has changed and so locked. Does nothing without copies. They are
 * looked for only now: `distribute` waits for transactions that have changed a project, and makes others wait.
 */
export async function copyProject(
  session: Session,
  statements: Pick<Statements, 'findCopy' | 'removeCopy' | 'readForCopy' | 'writeCopy'>,
  projectId: string,
): Promise<void> {
  const copies = await session.all(statements.findCopy);
  if (copies.length === 0) return;
  await session.run(statements.removeCopy, [projectId]);
  const rows = await session.all<{ readonly project: string }>(statements.readForCopy, [projectId]);
  for (const { project } of rows) await session.run(statements.writeCopy, [project]);
}
