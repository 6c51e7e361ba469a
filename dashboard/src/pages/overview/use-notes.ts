/** What the chart says of the numbers: where corrections lie, and the first query. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { newestCorrectionsQuery } from '../../api/corrections.js';
import type { ProjectRef } from '../../api/paths.js';
import type { Correction, Numbers } from '../../api/types.js';
import type { Note } from '../../chart/notes.js';
import type { View } from '../../navigation/view.js';
import { titleOf } from '../corrections/words.js';

export function useNotes(ref: ProjectRef, { caller }: View, numbers: Numbers | undefined): readonly Note[] {
  // Less urgent than the numbers.
  const { data } = useQuery({ ...newestCorrectionsQuery(ref), enabled: numbers !== undefined });
  const began = numbers?.recordingBegan ?? null;
  return useMemo(() => {
    const corrections = (data?.corrections ?? []).filter((one) => caller === null || concerns(one, caller));
    const first =
      began === null ? [] : [{ from: Date.parse(began), to: Date.parse(began), text: 'First query' }];
    return [...first, ...corrections.flatMap(noteOf)];
  }, [data, caller, began]);
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
