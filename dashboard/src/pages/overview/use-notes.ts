/** What the chart says of the numbers: where corrections and imports lie, and the first query. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { newestCorrectionsQuery } from '../../api/corrections.js';
import type { ProjectRef } from '../../api/paths.js';
import { importsQuery } from '../../api/stats.js';
import type { Correction, Imports, Numbers } from '../../api/types.js';
import type { Note } from '../../chart/notes.js';
import { day } from '../../format/dates.js';
import type { View } from '../../navigation/view.js';
import { titleOf } from '../corrections/words.js';

export function useNotes(ref: ProjectRef, { caller }: View, numbers: Numbers | undefined): readonly Note[] {
  // Less urgent than the numbers.
  const enabled = numbers !== undefined;
  const { data } = useQuery({ ...newestCorrectionsQuery(ref), enabled });
  const { data: imported } = useQuery({ ...importsQuery(ref), enabled });
  const began = numbers?.recordingBegan ?? null;
  return useMemo(() => {
    const corrections = (data?.corrections ?? []).filter((one) => caller === null || concerns(one, caller));
    const first =
      began === null ? [] : [{ from: Date.parse(began), to: Date.parse(began), text: 'First query' }];
    return [...first, ...corrections.flatMap(noteOf), ...(imported?.imports ?? []).map(noteOfImport)];
  }, [data, imported, caller, began]);
}

function concerns({ callers, to }: Correction, caller: string): boolean {
  return to === caller || callers.some((one) => one.caller === caller);
}

/** What was undone has changed nothing. */
function noteOf(correction: Correction): Note[] {
  const { action, first, last, undoneBy, reason } = correction;
  if (action === 'undo' || undoneBy !== null || first === null || last === null) return [];
  return [{ from: Date.parse(first), to: Date.parse(last), text: `${titleOf(correction)}: ${reason}` }];
}

/** `import:messages.csv` is `Import of messages.csv on 27 Nov 2026`. */
function noteOfImport({ day: arrived, sender, first, last }: Imports['imports'][number]): Note {
  const [kind, ...names] = sender.split(':');
  const what = `Import of ${kind === 'counts' ? 'counts of ' : ''}${names.join(':')}`;
  return { from: Date.parse(first), to: Date.parse(last), text: `${what} on ${day(arrived, 'UTC')}` };
}
